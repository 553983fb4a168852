"""`theta`: bracket theta(p) of every row of a file."""

import argparse

from sandbox.cli.answers import print_json, print_table, shown

HELP = "bracket theta(p) of each row of a file: lower, upper, exact, p_max, entropy"
FORM: dict[str, object] = {}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `theta`."""
    parser.add_argument(
        "file", metavar="FILE", help="attention rows as .npy or .csv; a row need not sum to 1"
    )
    parser.add_argument(
        "--gap", metavar="G", type=float, default=1e-6, help="width at which a bracket counts as closed"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Print a line per row, and the share of rows that are exact."""
    import numpy as np

    from sandbox.cli.arrays import read_array
    from sandbox.mathematics.entropy import row_entropy
    from sandbox.mathematics.theta import theta_bracket

    weights = read_array(arguments.file, (".npy", ".csv"))
    rows = weights.reshape(-1, weights.shape[-1] if weights.ndim else 1).astype(np.float64)
    bracket = theta_bracket(rows, gap=arguments.gap)
    with np.errstate(invalid="ignore", divide="ignore"):
        largest = rows.max(axis=1) / rows.sum(axis=1)
    names = ("lower", "upper", "exact", "p_max", "entropy")
    columns = (bracket.lower, bracket.upper, bracket.exact, largest, row_entropy(rows))
    table = [
        dict(zip(names, values, strict=True)) for values in zip(*(c.tolist() for c in columns), strict=True)
    ]
    share = float(bracket.exact.mean())
    if arguments.json:
        print_json({"rows": table, "share_exact": share, "gap": arguments.gap, "entropy_unit": "nats"})
    else:
        cells = [[str(i), *(shown(row[name], 9) for name in names)] for i, row in enumerate(table)]
        print_table([["row", *names], *cells, ["exact", f"{share:.1%}", "", "", "", ""]])
    return 0
