"""`export`: a run as tables, settings, weights, one archive, or a page that replays it."""

import argparse
import sys

HELP = "export a run: tables, settings, weights, an archive, a page that replays it"
FORM: dict[str, object] = {}
FORMATS = ("csv", "parquet", "zip", "html", "toml", "python", "safetensors", "tensorboard")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `export`."""
    parser.add_argument(
        "run_id", metavar="RUN", help="an id that `list` prints, or the path of a run's folder"
    )
    parser.add_argument("--to", choices=FORMATS, required=True)
    parser.add_argument(
        "-o", "--output", metavar="PATH", help="where to write (default: named after the run, here)"
    )
    parser.add_argument(
        "--step", type=int, metavar="N", help="safetensors: the step whose weights (default: the last stored)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the export and print its path."""
    from sandbox.runner.places import find_run
    from sandbox.store import open_run
    from sandbox.store.export import export

    with open_run(find_run(arguments.run_id)) as found:
        if arguments.to == "html":
            from sandbox.cli.html_report import write_html

            path = write_html(found, arguments.output)
        else:
            path = export(found, arguments.to, arguments.output, arguments.step)
    sys.stdout.write(f"{path}\n")
    return 0
