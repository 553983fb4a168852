"""`theta`: bracket theta(p) of every row of a file."""

import argparse
import sys
from typing import Any

from sandbox.cli.answers import print_json, print_table, shown

HELP = "bracket theta(p) of each row of a file: lower, upper, exact, p_max, entropy"
FORM: dict[str, object] = {}
NAMES = ("lower", "upper", "exact", "p_max", "entropy")
TOLERANCE = 1e-3  # files are often rounded to a few digits
PROGRESS_FROM = 2000  # rows: fewer are done before anyone wonders


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `theta`."""
    parser.add_argument("file", metavar="FILE", help="attention rows as .npy or .csv, keys on the last axis")
    parser.add_argument(
        "--gap", metavar="G", type=float, default=1e-6, help="width at which a bracket counts as closed"
    )
    parser.add_argument(
        "--tolerance",
        metavar="T",
        type=float,
        default=TOLERANCE,
        help="how far from 1 a row may sum; it is then divided by its sum (default %(default)g)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Print a line per row, and the share of rows that are exact."""
    from sandbox.cli.arrays import read_array
    from sandbox.mathematics.row_report import row_reports, sum_tolerance

    weights = read_array(arguments.file, (".npy", ".csv"))
    n_rows = weights.size // weights.shape[-1] if weights.ndim else 1
    tolerance = max(
        arguments.tolerance, sum_tolerance(weights.dtype, weights.shape[-1] if weights.ndim else 1)
    )
    table: list[dict[str, Any]] = []
    for report in row_reports(weights, gap=arguments.gap, tolerance=tolerance):
        columns = (getattr(report, name).tolist() for name in NAMES)
        table += [dict(zip(NAMES, values, strict=True)) for values in zip(*columns, strict=True)]
        if n_rows > PROGRESS_FROM:
            sys.stderr.write(f"\rrow {len(table)} of {n_rows}")
    if n_rows > PROGRESS_FROM:
        sys.stderr.write("\n")
    share = sum(row["exact"] for row in table) / len(table)
    if arguments.json:
        print_json({"rows": table, "share_exact": share, "gap": arguments.gap, "entropy_unit": "nats"})
    else:
        cells = [[str(i), *(shown(row[name], 9) for name in NAMES)] for i, row in enumerate(table)]
        print_table([["row", *NAMES], *cells, ["exact", f"{share:.1%}", "", "", "", ""]])
    return 0
