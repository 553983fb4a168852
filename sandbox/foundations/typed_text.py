"""What people type or upload: values shown within a sentence, and TOML that would be slow to read."""

import re
from typing import Any

from sandbox.foundations.errors import InvalidPlain

SHOWN = 80
MOST_DOTS = 30
"""Dots of one TOML line outside texts and comments; a setting's key has at most three."""

# An unended text swallows the rest, as it ends the parser; nothing is tried twice (`*+`), so this is linear.
_QUIET = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+(?:"{3,5}|.*+)'
    r"|'''(?:[^']|'(?!''))*+(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]|\\[^\n])*+(?:"|[^\n]*+)'
    r"|'[^'\n]*+'?+"
    r"|#[^\n]*+",
    re.DOTALL,
)


def shown(value: Any, most: int = SHOWN) -> str:
    """`value` as Python writes it, cut to `most` characters; where Python cannot write it, what it is."""
    try:
        return repr(value)[:most]
    except ValueError:  # Python writes no whole number of more than 4300 digits
        return "a number of thousands of digits"
    except RecursionError:
        return "tables or lists nested too deeply"


def refuse_costly_toml(text: str) -> None:
    """Raise InvalidPlain for a line with many dots: Python's parser takes quadratic time for dotted keys."""
    for line in _QUIET.sub("", text).split("\n"):
        if (dots := line.count(".")) > MOST_DOTS:
            raise InvalidPlain(
                f"The TOML text has a line with {dots} dots outside texts; at most {MOST_DOTS} are read, "
                "so give nested settings as tables."
            )
