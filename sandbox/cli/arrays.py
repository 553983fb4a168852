"""Arrays that a command reads from a file: .npy without pickles, or .csv."""

from pathlib import Path

import numpy as np

from sandbox.foundations.errors import InvalidData


def read_array(name: str, suffixes: tuple[str, ...]) -> np.ndarray:
    """The numbers in the file; InvalidData in one sentence where they cannot be read as such."""
    path = Path(name)
    if path.suffix not in suffixes:
        raise InvalidData(
            f"{name[:200]!r} ends in {path.suffix!r}; give a file that ends in {' or '.join(suffixes)}."
        )
    if not path.is_file():
        raise InvalidData(
            f"There is no file {name[:200]!r}; give the path of a {' or '.join(suffixes)} file."
        )
    try:
        if path.suffix == ".csv":
            array = np.loadtxt(path, delimiter=",", ndmin=2, dtype=np.float64)
        else:
            array = np.load(path, allow_pickle=False, mmap_mode="r")
    except (ValueError, OSError, EOFError) as error:
        raise InvalidData(f"{path.name} cannot be read as numbers: {str(error)[:200]}.") from error
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiub" or array.size == 0:
        raise InvalidData(
            f"{path.name} does not hold an array of real numbers; give one with at least one number."
        )
    return array
