"""`condition`: how unevenly a matrix stretches."""

import argparse
from typing import TYPE_CHECKING

from sandbox.cli.answers import print_json, print_table, shown
from sandbox.cli.progress import Progress

if TYPE_CHECKING:
    import numpy as np

HELP = "condition numbers of a matrix, or of each matrix of a stack"
FORM: dict[str, object] = {}
FIELDS = ("largest", "smallest", "smallest_nonzero", "kappa", "kappa_nonzero", "rank")
CHUNK_NUMBERS = 2**20  # 8 MB in float64


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `condition`."""
    parser.add_argument(
        "file", metavar="FILE", help="a matrix (row, column) as .npy or .csv, or a stack of them as .npy"
    )
    parser.add_argument(
        "--tolerance",
        metavar="T",
        type=float,
        default=None,
        help="share of the largest singular value that counts as zero (default: what float64 rounds)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Print the singular values' ends, both condition numbers, the rank and the tolerance behind it."""
    from sandbox.cli.arrays import read_array
    from sandbox.foundations.errors import InvalidData
    from sandbox.mathematics.attention_rows import place_name
    from sandbox.mathematics.condition import spectrum_ends

    stack = read_array(arguments.file, (".npy", ".csv"))
    if stack.ndim < 2:
        raise InvalidData(f"The array has shape {stack.shape}; give a matrix or a stack of matrices.")
    leading, size = stack.shape[:-2], stack.shape[-2:]
    flat = stack.reshape(-1, *size)
    step = max(1, CHUNK_NUMBERS // (size[0] * size[1]))
    table: list[dict[str, float]] = []
    tolerance = 0.0
    with Progress("matrix", len(flat)) as progress:
        for first in range(0, len(flat), step):
            chunk = flat[first : first + step]
            _refuse_what_is_not_finite(chunk, first, leading)
            ends = spectrum_ends(chunk, arguments.tolerance)
            tolerance = ends.tolerance
            columns = (getattr(ends, name).tolist() for name in FIELDS)
            table += [dict(zip(FIELDS, values, strict=True)) for values in zip(*columns, strict=True)]
            progress.at(len(table))
    how = {
        "shape": list(stack.shape),
        "tolerance": tolerance,
        "precision": f"float64, of a file of {stack.dtype}",
        "method": "singular values; kappa is infinite where one of them counts as zero",
        "sample_size": len(table),
    }
    places = [place_name(i, leading) for i in range(len(table))]
    if arguments.json:
        named = [{"matrix": p, **row} for p, row in zip(places, table, strict=True)]
        print_json({**table[0], **how} if not leading else {"matrices": named, **how})
        return 0
    rows = [[p, *(shown(m[name], 6) for name in FIELDS)] for p, m in zip(places, table, strict=True)]
    print_table([["matrix", *FIELDS], *rows])
    zero = f"{tolerance:.3g} of the largest singular value counts as zero"
    print_table([["tolerance", zero], ["precision", str(how["precision"])]])
    return 0


def _refuse_what_is_not_finite(chunk: "np.ndarray", first: int, leading: tuple[int, ...]) -> None:
    import numpy as np

    from sandbox.foundations.errors import InvalidData
    from sandbox.mathematics.attention_rows import place_name

    unsound = np.argwhere(~np.isfinite(chunk))
    if len(unsound):
        matrix, row, column = (int(i) for i in unsound[0])
        where = f" of matrix {place_name(first + matrix, leading)}" if leading else ""
        raise InvalidData(
            f"The entry ({row}, {column}){where} is {chunk[matrix, row, column]}; give finite numbers, "
            "counted here from 0."
        )
