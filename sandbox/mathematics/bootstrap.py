"""Bootstrap: how far a mean over few seeds could have come out otherwise, by drawing the seeds again.

`python -m sandbox.mathematics.bootstrap` reads {"values": [[...], ...], "seed": n} from its standard input
and answers {"low": [...], "high": [...]}, so that a process without SciPy can ask.
"""

import json
import sys

import numpy as np
from jaxtyping import Float

from sandbox.foundations.errors import InvalidData

CONFIDENCE = 0.95
RESAMPLES = 4999
MOST_POINTS = 5000


def bootstrap_interval(
    values: Float[np.ndarray, "point seed"],
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[Float[np.ndarray, " point"], Float[np.ndarray, " point"]]:
    """Percentile bootstrap intervals (Efron 1979) of the mean over seeds, one for each point.

    Values that are not finite are left out; NaN where fewer than two are left. Equal points get equal
    intervals, since every point draws the same seeds. Raises InvalidData for a confidence out of (0, 1).
    """
    from scipy.stats import bootstrap

    if not 0.0 < confidence < 1.0:
        raise InvalidData(f"A confidence is {confidence}; it must lie between 0 and 1.")
    values = np.asarray(values, dtype=np.float64)
    low, high = (np.full(len(values), np.nan) for _ in range(2))
    known = np.isfinite(values)
    patterns, which = np.unique(known, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        if pattern.sum() < 2:
            continue
        rows = np.flatnonzero(which.reshape(-1) == number)
        found = bootstrap(
            (values[rows][:, pattern],),
            np.mean,
            axis=1,
            n_resamples=resamples,
            confidence_level=confidence,
            method="percentile",
            vectorized=True,
            batch=64,
            rng=np.random.default_rng(seed),
        )
        low[rows], high[rows] = found.confidence_interval
    return low, high


def main() -> int:
    """Answer one question from standard input; 2 where it cannot be read."""
    try:
        asked = json.load(sys.stdin)
        values = np.array(asked["values"], dtype=np.float64)
        if values.ndim != 2 or len(values) > MOST_POINTS:
            raise ValueError(f"an array of shape {values.shape}")
        low, high = bootstrap_interval(values, seed=int(asked["seed"]))
    except (ValueError, TypeError, KeyError) as fault:
        sys.stderr.write(f"The question to the bootstrap cannot be read ({fault}).\n")
        return 2
    json.dump({"low": low.tolist(), "high": high.tolist()}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
