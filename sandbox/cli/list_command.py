"""`list`: the runs in the runs folder."""

import argparse
import sys
from datetime import datetime
from typing import Any

from sandbox.cli.answers import print_json, print_table

HELP = "list the runs in the runs folder"
FORM: dict[str, object] = {}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `list`."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Print id, state, step, arms, seeds and age, the youngest first; an unreadable run says why."""
    from sandbox.store import run_folders, runs_root

    runs = [_described(folder) for folder in run_folders()]
    if arguments.json:
        print_json({"folder": str(runs_root()), "runs": runs})
    elif not runs:
        sys.stdout.write(f"There are no runs in {runs_root()} yet.\n")
    else:
        print_table([["id", "state", "step", "arms", "seeds", "created"], *map(_row, runs)])
    return 0


def _described(folder: Any) -> dict[str, Any]:
    from sandbox.foundations.errors import SandboxError
    from sandbox.runner.places import present_state
    from sandbox.store import open_run

    try:
        with open_run(folder) as found:
            return {
                "id": found.id,
                "state": present_state(found),
                "step": found.status["step"],
                "steps": found.experiment["steps"],
                "arms": list(found.arms),
                "seeds": list(found.seeds),
                "created": found.created,
            }
    except SandboxError as error:
        reason = str(error)
    except Exception as error:  # whatever one folder holds, the others are listed
        reason = f"{type(error).__name__}: {str(error)[:200]}"
    return {"id": folder.name, "state": "unreadable", "reason": reason}


def _row(run: dict[str, Any]) -> list[str]:
    if "reason" in run:
        return [run["id"], run["state"], "-", run["reason"], "-", "-"]
    created = datetime.fromtimestamp(run["created"]).strftime("%Y-%m-%d %H:%M")
    step = f"{run['step']}/{run['steps']}"
    return [run["id"], run["state"], step, " | ".join(run["arms"]), str(len(run["seeds"])), created]
