"""`check`: whether a run's folder is whole, and what in it is damaged."""

import argparse
import sys
from pathlib import Path

from sandbox.cli.answers import print_json

HELP = "verify a run's folder and say what is damaged"
FORM: dict[str, object] = {}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `check`."""
    parser.add_argument(
        "run_id", metavar="RUN", help="an id that `list` prints, or the path of a run's folder"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Print what was found; 1 where something is damaged."""
    from sandbox.store.check import check_folder

    checked = check_folder(_folder(arguments.run_id))
    if arguments.json:
        print_json({
            "folder": str(checked.folder), "sound": checked.sound, "counts": checked.counts,
            "damage": [{"file": file, "fault": fault} for file, fault in checked.damage],
            "notes": [{"file": file, "note": note} for file, note in checked.notes],
        })  # fmt: skip
        return int(not checked.sound)
    for file, fault in checked.damage:
        sys.stdout.write(f"damaged: {file}: {fault}\n")
    for file, note in checked.notes:
        sys.stdout.write(f"note: {file}: {note}\n")
    read = ", ".join(f"{n} {what}" for what, n in checked.counts.items())
    sys.stdout.write(f"{checked.folder}: {'sound' if checked.sound else 'damaged'} ({read})\n")
    return int(not checked.sound)


def _folder(text: str) -> Path:
    """The folder meant, also where the file that makes it a run's is missing."""
    from sandbox.store.folder import RUN_ID, run_path

    return run_path(text) if RUN_ID.fullmatch(text) and not Path(text).is_dir() else Path(text)
