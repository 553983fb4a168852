"""`show`: what a run is and what came out of it."""

import argparse
import sys
from typing import TYPE_CHECKING

from sandbox.cli import diagnosis
from sandbox.cli.answers import print_json, print_table, shown

if TYPE_CHECKING:
    from sandbox.store import Run

HELP = "show a run: its state, and per arm what its seeds reached; --diagnose reads more of it"
FORM: dict[str, object] = {}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `show`."""
    parser.add_argument(
        "run_id", metavar="RUN", help="an id that `list` prints, or the path of a run's folder"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    diagnosis.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the run."""
    from sandbox.cli.results import results, summary
    from sandbox.runner.places import find_run
    from sandbox.store import open_run

    if arguments.diagnose is not None:
        folder = find_run(arguments.run_id)
        diagnosis.diagnose_and_print(folder, arguments.diagnose, arguments.step, arguments.json)
        return 0
    with open_run(find_run(arguments.run_id)) as found:
        if arguments.json:
            print_json({**results(found), "summary": summary(found), "experiment": found.experiment})
        else:
            show(found)
    return 0


def show(found: "Run") -> None:
    """Print state, table per arm and events of a run as text."""
    from sandbox.runner.engine_words import engine_sentences
    from sandbox.store.summary import summarize

    status = found.status
    sys.stdout.write(f"{found.id}: {status['state']} at step {status['step']} of {found.experiment['steps']}")
    sys.stdout.write(f" ({status['reason']})\n" if status["reason"] else "\n")
    sys.stdout.write(f"{found.path}\n")
    for sentence in [*found.notes, *engine_sentences(found.meta("engines"))]:
        sys.stdout.write(f"{sentence}\n")
    heading = ["arm", "n", "held-out accuracy", "difference", "reached", "median step", "s/step", "diverged"]
    rows = [heading]
    for arm in summarize(found):
        difference = "-"
        if arm.difference is not None:
            low, high = arm.difference.low, arm.difference.high
            interval = "" if low is None else f" [{low:+.4f}, {high:+.4f}]"  # one pair has none
            difference = f"{arm.difference.mean:+.4f}{interval}"
        rows.append([
            arm.arm, str(arm.n), shown(arm.final_accuracy, 4), difference,
            f"{arm.reached}/{arm.n} >= {arm.target:g}", shown(arm.median_step),
            shown(arm.seconds_per_step, 3), str(arm.diverged),
        ])  # fmt: skip
    print_table(rows)
    for event in found.events():
        where = f"{event.arm or 'every arm'}, seed {'all' if event.seed is None else event.seed}"
        sys.stdout.write(f"step {event.step}: {event.kind}: {event.detail} ({where})\n")
