"""`import`: a run from a ZIP that `export --to zip` wrote, into the runs folder."""

import argparse
import sys

HELP = "import a run from a ZIP that `export --to zip` wrote"
FORM: dict[str, object] = {}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `import`."""
    parser.add_argument("file", metavar="FILE.zip", help="the archive; no run is replaced by it")


def run(arguments: argparse.Namespace) -> int:
    """Import the run and print its folder."""
    from sandbox.store.importing import import_run

    sys.stdout.write(f"{import_run(arguments.file, arguments.file)}\n")
    return 0
