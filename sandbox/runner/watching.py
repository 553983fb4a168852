"""Watching: whether anybody looks at a run, and letting others in where nobody does."""

import os
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path

from sandbox.runner.control import RunControl
from sandbox.store.folder import run_path

WATCHED = "watched"
"""An empty file in the folder of a run; its time says when a page last showed it."""

PATIENCE_MINUTES = 10.0
"""A run that nobody has watched for so long lets another owner's in; SANDBOX_UNWATCHED_MINUTES."""


def seen(run_id: str) -> None:
    """Note that a page shows the run just now."""
    path = run_path(run_id) / WATCHED
    try:
        path.touch()
    except OSError:  # a folder that may not be written is watched all the same
        return


def patience() -> float:
    """Seconds that a run may go unwatched while others wait; infinite where that is turned off with 0."""
    try:
        minutes = float(os.environ.get("SANDBOX_UNWATCHED_MINUTES") or PATIENCE_MINUTES)
    except ValueError:
        minutes = PATIENCE_MINUTES
    return 60 * minutes if minutes > 0 else float("inf")


def unwatched_for(folder: Path, began: float) -> float:
    """Seconds since a page last showed the run in `folder`, or since its worker `began`."""
    try:
        last = (folder / WATCHED).stat().st_mtime
    except OSError:
        last = 0.0
    return max(0.0, time.time() - max(last, began))


def who_makes_way(catalogue: sqlite3.Connection, runs: Path, states: Mapping[str, str]) -> str | None:
    """Of the runs with a worker and their `states`, the one that has been unwatched longest, too long even.

    One that trains makes way for another owner's run, one that is paused for anybody's; None where nobody
    waits or all of them were watched.
    """
    owners = {row[0] for row in catalogue.execute("SELECT owner FROM runs WHERE state = 'queued'")}
    found = []
    for run_id, state in states.items():
        owner, began, keeps_on = catalogue.execute(
            "SELECT owner, began, keeps_on FROM runs WHERE id = ?", (run_id,)
        ).fetchone()
        if (owners if state == "paused" else owners - {owner}) and not (keeps_on and state != "paused"):
            found.append((unwatched_for(runs / run_id, began or time.time()), run_id))
    longest, run_id = max(found, default=(0.0, ""))
    return run_id if longest > patience() else None


def ask_to_make_way(folder: Path) -> None:
    """Have the run write a checkpoint and end."""
    with RunControl(folder) as control:
        control.stop()


def take_back(folder: Path) -> None:
    """Let the run train when its turn comes again."""
    with RunControl(folder) as control:
        control.resume()
