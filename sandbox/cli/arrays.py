"""Arrays that a command reads from a file: .npy without pickles, or .csv."""

import sys
import warnings
from pathlib import Path

import numpy as np

from sandbox.foundations.errors import InvalidData

SLOW_TEXT = 20 * 2**20  # bytes of text, seconds of reading


def read_array(name: str, suffixes: tuple[str, ...]) -> np.ndarray:
    """The numbers in the file; InvalidData in one sentence where they cannot be read as such."""
    path = Path(name)
    if path.suffix not in suffixes:
        raise InvalidData(
            f"{name[:200]!r} ends in {path.suffix!r}; give a file that ends in {' or '.join(suffixes)}."
        )
    if not _is_file(path):
        raise InvalidData(
            f"There is no file {name[:200]!r}; give the path of a {' or '.join(suffixes)} file."
        )
    try:
        if path.suffix == ".csv":
            if path.stat().st_size > SLOW_TEXT:
                sys.stderr.write(f"reading {path.name}\n")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of an empty file, which is refused below
                array = np.loadtxt(path, delimiter=",", ndmin=2, dtype=np.float64, encoding="utf-8-sig")
        else:
            array = np.load(path, allow_pickle=False, mmap_mode="r")
    except Exception as error:  # a header is Python text, and a crafted one fails in any of its ways
        reason = _first_fault(path) if path.suffix == ".csv" else ""
        raise InvalidData(
            f"{path.name} cannot be read as numbers: {reason or str(error)[:200] or type(error).__name__}."
        ) from error
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiub" or array.size == 0:
        raise InvalidData(
            f"{path.name} does not hold an array of real numbers; give one with at least one number."
        )
    return array


def _first_fault(path: Path) -> str:
    """What first is wrong in a text of numbers and commas, with its place; empty where nothing is seen."""
    width = 0
    try:
        with path.open(encoding="utf-8-sig") as text:
            for number, line in enumerate(text, 1):
                cells = line.split("#")[0].strip().split(",")
                if cells == [""]:
                    continue
                width = width or len(cells)
                if len(cells) != width:
                    return f"line {number} has {len(cells)} cells where the lines before it have {width}"
                for column, cell in enumerate(cells, 1):
                    if not _is_number(cell):
                        held = f"line {number}, column {column} holds {cell.strip()[:40]!r}"
                        return f"{held}, and every cell is to be a number"
    except UnicodeDecodeError:
        return "it is not a text in UTF-8"
    except OSError:  # gone since: its own words say so
        return ""
    return ""


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # too long a name
        return False
