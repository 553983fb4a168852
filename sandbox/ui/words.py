"""Words: numbers, durations and names as the pages write them, safe to place in Markdown."""

import math
import re
import time

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


def code(text: str) -> str:
    """`text` as a Markdown code span, where nothing in it has a meaning of its own."""
    kept = "".join(c for c in text if c.isprintable() and c not in "`|")
    return f"`{kept.strip() or ' '}`"


def escaped(text: str) -> str:
    """`text` for Markdown with every punctuation mark taken literally, on one line."""
    return _PUNCTUATION.sub(r"\\\1", " ".join(text.split()))


def count(n: int, one: str, many: str = "") -> str:
    """`1 seed`, `3 seeds`."""
    return f"{whole(n)} {one if n == 1 else many or one + 's'}"


def whole(n: float) -> str:
    """A whole number with thin groups of three digits: 12,000."""
    return f"{n:,.0f}"


def percent(share: float) -> str:
    """98.4 %; never rounded up to 100 %."""
    if not math.isfinite(share):
        return "not a number"
    rounded = f"{100 * share:.1f}"
    return "99.9 %" if rounded == "100.0" and share < 1 else f"{rounded.removesuffix('.0')} %"


def points(difference: float) -> str:
    """A signed difference of two shares in percentage points."""
    value = round(100 * difference, 1)
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{abs(value):.1f}"


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
