"""`theta`: bracket theta(p) of every row of a file."""

import argparse
import math
from typing import TYPE_CHECKING, Any

from sandbox.cli.answers import print_json, print_table, shown
from sandbox.cli.numbers import real
from sandbox.cli.progress import Progress

if TYPE_CHECKING:
    from sandbox.mathematics.row_report import RowReport

HELP = "bracket theta(p) of each row of a file: lower, upper, exact, p_max, entropy"
FORM: dict[str, object] = {}
NAMES = ("lower", "upper", "exact", "p_max", "entropy")
TOLERANCE = 1e-3  # files are often rounded to a few digits
DIGITS = 9


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `theta`."""
    parser.add_argument("file", metavar="FILE", help="attention rows as .npy or .csv, keys on the last axis")
    parser.add_argument(
        "--gap", metavar="G", type=real(0, 1), default=1e-6, help="width at which a bracket counts as closed"
    )
    parser.add_argument(
        "--tolerance",
        metavar="T",
        type=real(0, 1e300),
        default=TOLERANCE,
        help="how far from 1 a row may sum; it is then divided by its sum (default %(default)g)",
    )
    parser.add_argument(
        "--certificates", action="store_true", help="print every kind of lower bound beside the bracket"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Print a line per row, and the share of rows that are exact."""
    from sandbox.cli.arrays import read_array
    from sandbox.mathematics.attention_rows import place_name
    from sandbox.mathematics.row_report import row_reports, sum_tolerance

    weights = read_array(arguments.file, (".npy", ".csv"))
    n_keys = weights.shape[-1] if weights.ndim else 1
    tolerance = max(arguments.tolerance, sum_tolerance(weights.dtype, n_keys))
    reports = row_reports(
        weights, gap=arguments.gap, tolerance=tolerance, certificates=arguments.certificates
    )
    table: list[dict[str, Any]] = []
    with Progress("row", weights.size // n_keys) as progress:
        for report in reports:
            columns = _columns(report)
            table += [
                dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
            ]
            progress.at(len(table))
    share = sum(row["exact"] for row in table) / len(table)
    widest = max((row["upper"] - row["lower"] for row in table if row["upper"] is not None), default=0.0)
    how = {
        "share_exact": share,
        "widest_bracket": widest,
        "gap": arguments.gap,
        "sum_tolerance": tolerance,
        "entropy_unit": "nats",
        "precision": f"float64, of a file of {weights.dtype}",
        "method": "closed forms, greedy splits and complete search; theta of the row divided by its sum",
        "sample_size": len(table),
    }
    places = [place_name(i, weights.shape[:-1]) for i in range(len(table))]
    if arguments.json:
        print_json({"rows": [{"row": p, **row} for p, row in zip(places, table, strict=True)], **how})
        return 0
    lines = [[place, *_cells(row)] for place, row in zip(places, table, strict=True)]
    print_table([["row", *table[0]], *lines])
    print_table(
        [["exact", f"{share:.1%} of {len(table)} rows; the widest bracket is {widest:.2g} wide"]]
        + [[word, str(how[word])] for word in ("precision", "method")]
    )
    return 0


def _columns(report: "RowReport") -> dict[str, list[Any]]:
    """The report's columns by name, as plain numbers."""
    plain = {name: getattr(report, name).tolist() for name in NAMES}
    return plain | {name: bound.tolist() for name, bound in report.certificates.items()}


def _cells(row: dict[str, Any]) -> list[str]:
    """A row of the table; the ends of a bracket that is open are rounded outward, so that it stays one."""
    return [
        _outward(value, up=name == "upper")
        if name in ("lower", "upper") and not row["exact"]
        else shown(value, DIGITS)
        for name, value in row.items()
    ]


def _outward(value: float, *, up: bool) -> str:
    if not math.isfinite(value):
        return "-"
    scale = 10.0**DIGITS
    return f"{(math.ceil if up else math.floor)(value * scale) / scale:.{DIGITS}g}"
