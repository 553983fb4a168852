"""What commands print: JSON that every reader takes, and plain tables."""

import json
import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np


def plain_number(value: Any) -> Any:
    """`value` as JSON can hold it: a finite number as it is, NaN as null, infinities as text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


def print_json(answer: Any) -> None:
    """One JSON object on standard output."""
    sys.stdout.write(json.dumps(_plain(answer), indent=1, allow_nan=False) + "\n")


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Rows of equal length in columns; the first row is the heading."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        sys.stdout.write(line.rstrip() + "\n")


def shown(value: Any, digits: int = 6) -> str:
    """A number as a table shows it; nothing as a dash."""
    if value is None:
        return "-"
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def _plain(answer: Any) -> Any:
    if isinstance(answer, dict):
        return {str(key): _plain(value) for key, value in answer.items()}
    if isinstance(answer, list | tuple):
        return [_plain(value) for value in answer]
    if isinstance(answer, np.ndarray):
        return _plain(answer.tolist())
    return plain_number(answer)
