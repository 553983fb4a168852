"""theta by trying every subset in exact arithmetic: slow, and the truth for brackets."""

from collections.abc import Sequence
from fractions import Fraction

SMALLEST_FLOAT_EXPONENT = 1074  # every float64 is a multiple of 2^-1074


def exact_integers(row: Sequence[float]) -> list[int]:
    """The row times 2^1074, as integers."""
    return [int(Fraction(float(value)) * 2**SMALLEST_FLOAT_EXPONENT) for value in row]


def exact_theta(row: Sequence[float]) -> Fraction:
    """4 max_S p(S)(1 - p(S)) over all subsets of the row divided by its sum; for about 12 keys or fewer."""
    keys = exact_integers(row)
    sums = [keys[0]]
    for key in keys[1:]:
        sums += [partial + key for partial in sums]
    return _theta(min(abs(2 * partial - sum(keys)) for partial in sums), sum(keys))


def exact_theta_of_small_integers(row: Sequence[int]) -> Fraction:
    """The same for many keys of small whole weight, by the set of reachable sums held as bits."""
    reachable = 1
    for key in row:
        reachable |= reachable << key
    total = sum(row)
    return _theta(min(abs(2 * s - total) for s in range(total + 1) if reachable >> s & 1), total)


def _theta(difference: int, total: int) -> Fraction:
    return 1 - Fraction(difference, total) ** 2
