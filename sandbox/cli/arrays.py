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
        raise InvalidData(
            f"{path.name} cannot be read as numbers: {str(error)[:200] or type(error).__name__}."
        ) from error
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiub" or array.size == 0:
        raise InvalidData(
            f"{path.name} does not hold an array of real numbers; give one with at least one number."
        )
    return array


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # too long a name
        return False
