"""Success share: how many of all runs succeed, with the interval that fits even none or all of them."""

import math

from sandbox.foundations.errors import InvalidData

NORMAL_QUANTILE = 1.959963984540054
"""The normal quantile of 0.975: an interval of 95 %."""


def wilson_interval(successes: int, n: int, quantile: float = NORMAL_QUANTILE) -> tuple[float, float]:
    """Ends of the score interval of a share, both within [0, 1] (Wilson 1927).

    (k + z^2/2 +- z sqrt(k (n - k)/n + z^2/4)) / (n + z^2). Raises InvalidData unless 0 <= k <= n and n >= 1.
    """
    if not 0 <= successes <= n or n < 1:
        raise InvalidData(f"{successes} of {n} succeeded; give at least one run and no more successes.")
    square = quantile * quantile
    reach = quantile * math.sqrt(successes * (n - successes) / n + square / 4)
    middle = successes + square / 2
    return max(0.0, (middle - reach) / (n + square)), min(1.0, (middle + reach) / (n + square))
