"""`listops`: evaluate an expression, check a file, draw a sample."""

import argparse
import sys
from typing import Any

from sandbox.cli.answers import print_json
from sandbox.cli.numbers import whole

HELP = "evaluate ListOps expressions, check ListOps files, draw samples"
FORM: dict[str, Any] = {}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The sub-commands of `listops`."""
    actions = parser.add_subparsers(metavar="ACTION", required=True, dest="action", parser_class=type(parser))
    evaluate = actions.add_parser("eval", help="the value of an expression")
    evaluate.add_argument("expression", metavar="EXPR", help="such as '[MAX 2 9 [MIN 4 7 ] 0 ]'")
    evaluate.set_defaults(act=_evaluate)
    check = actions.add_parser("check", help="work every row of a file out again and report what is wrong")
    check.add_argument("file", metavar="FILE")
    check.add_argument("--rows", metavar="N", type=whole(1), help="look at the first N rows only")
    check.add_argument("--json", action="store_true", help="print one JSON object")
    check.set_defaults(act=_check)
    sample = actions.add_parser("sample", help="draw rows, one `label TAB expression` per line")
    sample.add_argument("--n", metavar="N", type=whole(1, 1_000_000), required=True)
    sample.add_argument("--seed", metavar="S", type=whole(), required=True)
    sample.add_argument("--max-length", metavar="L", type=whole(), default=32, help="most tokens of a row")
    sample.add_argument(
        "--min-length", metavar="L", type=whole(), default=None, help="fewest tokens of a row"
    )
    sample.add_argument("--max-depth", metavar="D", type=whole(), default=4, help="deepest nesting")
    sample.add_argument(
        "--max-args", metavar="A", type=whole(), default=5, help="most arguments of an operator"
    )
    sample.set_defaults(act=_sample)


def run(arguments: argparse.Namespace) -> int:
    """Do what the sub-command says."""
    return int(arguments.act(arguments))


def _evaluate(arguments: argparse.Namespace) -> int:
    from sandbox.tasks.listops_grammar import evaluate

    sys.stdout.write(f"{evaluate(arguments.expression)}\n")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from sandbox.tasks.listops_files import check

    report = check(arguments.file, rows=arguments.rows)
    if arguments.json:
        print_json(report.to_plain())
    else:
        for sentence in report.sentences():
            sys.stdout.write(f"{sentence}\n")
    return 1 if report.n_problems else 0


def _sample(arguments: argparse.Namespace) -> int:
    from sandbox.foundations.streams import numpy_generator
    from sandbox.tasks.listops_generator import sample

    knobs = {
        "max_length": arguments.max_length,
        "max_depth": arguments.max_depth,
        "max_args": arguments.max_args,
    }
    if arguments.min_length is not None:
        knobs["min_length"] = arguments.min_length
    for line in sample(arguments.n, numpy_generator(arguments.seed, "listops sample"), **knobs).file_lines():
        sys.stdout.write(f"{line}\n")
    return 0
