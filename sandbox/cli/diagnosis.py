"""`show --diagnose`: read a diagnostic at a stored step, keep it in the run, and print it."""

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sandbox.cli.answers import print_json, print_table, shown
from sandbox.cli.numbers import whole

if TYPE_CHECKING:
    from sandbox.foundations.readings import Answer
    from sandbox.store import Run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of a diagnosis."""
    parser.add_argument(
        "--diagnose",
        metavar="KIND",
        help="read this diagnostic, such as sharpness, of the stored weights and keep it in the run",
    )
    parser.add_argument(
        "--step",
        type=whole(),
        metavar="N",
        help="with --diagnose: the stored step (the last one if left out)",
    )


def diagnose_and_print(folder: Path, kind: str, step: int | None, as_json: bool) -> None:
    """Read `kind` at `step` with progress on stderr and print what came of it; Ctrl-C cancels."""
    from sandbox.runner.answerer import diagnose
    from sandbox.store import open_run

    with open_run(folder) as run:
        if step is None:
            stored = run.weight_steps(run.arms[0])
            step = int(stored[-1]) if len(stored) else 0
        diagnose(folder, kind, step, Progress())
        answers = {arm: run.reading(kind, step, arm) for arm in run.arms}
        if as_json:
            print_json({"run": run.id, "kind": kind, "step": step, "arms": _plain(run, answers)})
        else:
            _print(run, kind, step, answers)


class Progress:
    """Says on stderr how far a reading is, each time that it has moved."""

    def __init__(self) -> None:
        self._told = (0, 0)

    def __call__(self, done: int, of: int) -> None:
        if (done, of) != self._told:
            self._told = done, of
            sys.stderr.write(f"{done} of {of} read (one per arm and seed)\n")
            sys.stderr.flush()


def _plain(run: "Run", answers: dict[str, "Answer"]) -> dict[str, Any]:
    from sandbox.foundations.answers import NotApplicable
    from sandbox.foundations.readings import encode

    found: dict[str, Any] = {}
    for arm, answer in answers.items():
        if isinstance(answer, NotApplicable):
            found[arm] = {"not_applicable": answer.reason}
            continue
        columns, _ = encode(answer)
        found[arm] = {
            "provenance": asdict(answer.provenance),
            "seeds": {
                seed: {name: values[row] for name, values in columns.items()}
                for row, seed in enumerate(run.seeds)
            },
        }
    return found


def _print(run: "Run", kind: str, step: int, answers: dict[str, "Answer"]) -> None:
    from sandbox.foundations.answers import NotApplicable
    from sandbox.foundations.readings import encode

    sys.stdout.write(f"{run.id}: {kind} at step {step}\n")
    table = [["arm", "seed", "what", "least", "median", "greatest"]]
    for arm, answer in answers.items():
        if isinstance(answer, NotApplicable):
            sys.stdout.write(f"{arm}: does not apply: {answer.reason}\n")
            continue
        for name, values in encode(answer)[0].items():
            for row, seed in enumerate(run.seeds):
                table.append([arm, str(seed), name, *_ends(values[row])])
    if len(table) > 1:
        print_table(table)
    for told in dict.fromkeys(a.provenance for a in answers.values() if not isinstance(a, NotApplicable)):
        sys.stdout.write(f"{told.exactness}, {told.precision}; {told.method}; {told.note}\n")


def _ends(values: np.ndarray) -> list[str]:
    """Least, median and greatest over what is not NaN; an infinite median stays infinite."""
    known = np.sort(values.astype(np.float64), axis=None)
    known = known[~np.isnan(known)]
    if not len(known):
        return ["-"] * 3
    return [shown(float(value), 4) for value in (known[0], known[len(known) // 2], known[-1])]
