"""Shapes of JSON values: small questions that are put together to ask a whole value of what kind it is."""

import math
from collections.abc import Callable, Mapping
from typing import Any

Shape = Callable[[Any], bool]
"""Whether a value, as JSON gives it, is of a kind."""

MOST_WHOLE = 2**63
"""No integer of SQLite is as large."""

LAST_STEP = 2**31 - 1
"""No run gets further: steps travel to the live view in four bytes."""
LONGEST_TEXT, MOST_ENTRIES = 20_000, 100_000
"""Characters of one text and entries of one list that a run may record of itself; real ones have far less."""


def is_whole(found: Any) -> bool:
    """Whether `found` is a whole number that SQLite can hold; true and false are none."""
    return isinstance(found, int) and not isinstance(found, bool) and abs(found) < MOST_WHOLE


def is_number(found: Any) -> bool:
    """Whether `found` is a finite number that a float64 holds."""
    return is_whole(found) or (isinstance(found, float) and math.isfinite(found))


def is_count(found: Any) -> bool:
    """Whether `found` is a whole number from 0 on."""
    return is_whole(found) and found >= 0


def is_step(found: Any) -> bool:
    """Whether `found` is a step that a run can reach, and that fits the wire."""
    return is_count(found) and found <= LAST_STEP


def is_text(found: Any) -> bool:
    """Whether `found` is a text of at most LONGEST_TEXT characters."""
    return isinstance(found, str) and len(found) <= LONGEST_TEXT


def is_truth(found: Any) -> bool:
    """Whether `found` is true or false."""
    return isinstance(found, bool)


def within(low: float, high: float) -> Shape:
    """Numbers from `low` to `high`."""
    return lambda found: is_number(found) and low <= found <= high


def either(*shapes: Shape) -> Shape:
    """Values of any of these kinds."""
    return lambda found: any(shape(found) for shape in shapes)


def is_nothing(found: Any) -> bool:
    """Whether `found` is null."""
    return found is None


def one_of(*values: str) -> Shape:
    """One of these texts."""
    return lambda found: isinstance(found, str) and found in values


def list_of(shape: Shape, most: int = MOST_ENTRIES) -> Shape:
    """Lists of at most `most` values of a kind."""
    return lambda found: isinstance(found, list) and len(found) <= most and all(map(shape, found))


def by_name(shape: Shape, most: int = MOST_ENTRIES) -> Shape:
    """Tables that have values of one kind by name."""
    return lambda found: isinstance(found, dict) and len(found) <= most and all(map(shape, found.values()))


def table(needs: Mapping[str, Shape], may: Mapping[str, Shape] | None = None) -> Shape:
    """Tables that have the parts `needs`, and the parts `may` only of their kind; others are not asked."""

    def ask(found: Any) -> bool:
        return (
            isinstance(found, dict)
            and all(key in found and shape(found[key]) for key, shape in needs.items())
            and all(shape(found[key]) for key, shape in (may or {}).items() if key in found)
        )

    return ask
