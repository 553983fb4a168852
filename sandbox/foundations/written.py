"""Written: numbers as people read them, one way on every page, in every figure and in every refusal."""

import math


def whole(n: float) -> str:
    """A whole number in groups of three digits: 12,000."""
    return f"{n:,.0f}"


def percent(share: float, digits: int = 1, column: bool = False) -> str:
    """98.4 %; 100 % only where all of it is meant, never by rounding.

    In a `column` or list of such numbers all have the same digits: 98.0 % beside 98.4 %.
    """
    if not math.isfinite(share):
        return "not a number"
    rounded = f"{100 * share:.{digits}f}"
    if float(rounded) == 100 and share < 1:
        rounded = f"{100 - 10**-digits:.{digits}f}"
    return f"{rounded if column else rounded.removesuffix('.0')} %"


def points(difference: float) -> str:
    """A signed difference of two shares in percentage points: +1.5."""
    value = round(100 * difference, 1)
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{abs(value):.1f}"
