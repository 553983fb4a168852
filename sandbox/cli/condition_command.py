"""`condition`: how unevenly a matrix stretches."""

import argparse

from sandbox.cli.answers import print_json, print_table, shown

HELP = "condition numbers of a matrix, or of each matrix of a stack"
FORM: dict[str, object] = {}
FIELDS = ("largest", "smallest", "smallest_nonzero", "kappa", "kappa_nonzero", "rank")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `condition`."""
    parser.add_argument("file", metavar="FILE.npy", help="a matrix (row, column), or a stack of them")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Print the singular values' ends, both condition numbers, the rank and the tolerance behind it."""
    import numpy as np

    from sandbox.cli.arrays import read_array
    from sandbox.foundations.errors import InvalidData
    from sandbox.mathematics.condition import condition_number, condition_number_nonzero, spectrum_ends

    matrix = read_array(arguments.file, (".npy", ".csv"))
    if matrix.ndim < 2:
        raise InvalidData(f"The array has shape {matrix.shape}; give a matrix or a stack of matrices.")
    unsound = np.argwhere(~np.isfinite(matrix))
    if len(unsound):
        place = tuple(int(i) for i in unsound[0])
        raise InvalidData(f"The entry {place} is {matrix[place]}; give finite numbers, counted here from 0.")
    ends = spectrum_ends(matrix)
    stacked = {
        "largest": ends.largest,
        "smallest": ends.smallest,
        "smallest_nonzero": ends.smallest_nonzero,
        "kappa": condition_number(matrix),
        "kappa_nonzero": condition_number_nonzero(matrix),
        "rank": ends.rank,
    }
    flat = {name: np.asarray(values).reshape(-1).tolist() for name, values in stacked.items()}
    matrices = [{name: flat[name][i] for name in FIELDS} for i in range(len(flat["rank"]))]
    if arguments.json:
        common = {"shape": list(matrix.shape), "tolerance": ends.tolerance}
        print_json({**matrices[0], **common} if matrix.ndim == 2 else {"matrices": matrices, **common})
    else:
        rows = [[str(i), *(shown(m[name], 6) for name in FIELDS)] for i, m in enumerate(matrices)]
        print_table([["matrix", *FIELDS], *rows])
        print_table([["tolerance", f"{ends.tolerance:.3g} of the largest singular value counts as zero"]])
    return 0
