"""Numbers that options take: read, and refused in one sentence where they are none or out of bounds."""

import argparse
import math
from collections.abc import Callable

GREATEST = 2**31 - 1
"""No run has a later step, and no seed is greater."""
SHOWN = 40


def whole(least: int = 0, most: int = GREATEST) -> Callable[[str], int]:
    """The `type` of an option that takes a whole number from `least` to `most`."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:  # thousands of digits among them
            number = None
        if number is None or not least <= number <= most:
            raise argparse.ArgumentTypeError(
                f"{text[:SHOWN]!r} is no whole number from {least} to {most}, so give one"
            )
        return number

    return read


def real(least: float, most: float) -> Callable[[str], float]:
    """The `type` of an option that takes a finite number from `least` to `most`."""

    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not least <= number <= most:  # true of NaN too
            raise argparse.ArgumentTypeError(
                f"{text[:SHOWN]!r} is no number from {least:g} to {most:g}, so give one"
            )
        return number

    return read
