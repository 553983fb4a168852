"""Words: numbers, durations and names as the pages write them, safe to place in Markdown."""

import re
import time

from sandbox.foundations import written
from sandbox.foundations.written import points, whole

__all__ = ["ago", "code", "count", "duration", "escaped", "percent", "points", "size", "whole"]

_BREAKS = re.compile(r"[^\S\u00a0]+")
_UNIT = re.compile(r"(?<=\d) %")
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


def code(text: str) -> str:
    """`text` as a Markdown code span, where nothing in it has a meaning of its own."""
    kept = "".join(c for c in text if c.isprintable() and c not in "`|")
    return f"`{kept.strip() or ' '}`"


def escaped(text: str) -> str:
    """`text` for Markdown with every punctuation mark taken literally, on one line; 98 % is never parted."""
    return _PUNCTUATION.sub(r"\\\1", _unparted(_BREAKS.sub(" ", text).strip()))


def percent(share: float, digits: int = 1, column: bool = False) -> str:
    """98.4 %, never parted at the end of a line; 100 % only where all of it is meant, never by rounding.

    In a `column` or list of such numbers all have the same digits.
    """
    return _unparted(written.percent(share, digits, column))


def _unparted(text: str) -> str:
    return _UNIT.sub("\u00a0%", text)


def count(n: int, one: str, many: str = "") -> str:
    """`1 seed`, `3 seeds`."""
    return f"{whole(n)} {one if n == 1 else many or one + 's'}"


def duration(seconds: float) -> str:
    """`0.6 s`, `42 s`, `3 min`, `2 h 5 min`, `3 days`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    if seconds < 172_800:
        return f"{seconds // 3600:.0f} h {seconds % 3600 / 60:.0f} min"
    return f"{seconds / 86_400:.0f} days"


def ago(moment: float | None) -> str:
    """How long ago `moment` (seconds since 1970) was."""
    return "" if moment is None else f"{duration(max(0.0, time.time() - moment))} ago"


def size(n_bytes: float) -> str:
    """`18 MB`, `1.2 GB`."""
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{max(n_bytes / 1e6, 0.1):.3g} MB"
