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


class Watched:
    """Remembers for the runs with a worker when a page last showed them, by a clock that never jumps."""

    def __init__(self, runs: Path) -> None:
        self._runs = runs
        self._last: dict[str, tuple[float, float]] = {}
        """The time of the mark of each run, and when it was first found so."""

    def unwatched_for(self, run_id: str) -> float:
        """Seconds for which the mark of the run has not been renewed, as far as this was asked."""
        try:
            mark = (self._runs / run_id / WATCHED).stat().st_mtime
        except OSError:
            mark = 0.0
        now = time.monotonic()
        if self._last.get(run_id, (None, now))[0] != mark:
            self._last[run_id] = (mark, now)
        return now - self._last[run_id][1]

    def who_makes_way(self, catalogue: sqlite3.Connection, states: Mapping[str, str]) -> str | None:
        """Of the runs with a worker and their `states`, the one unwatched longest, if that is too long.

        One that trains makes way for another owner's run, one that is paused for anybody's; None where nobody
        waits or all of them were watched.
        """
        self._last = {run_id: last for run_id, last in self._last.items() if run_id in states}
        owners = {row[0] for row in catalogue.execute("SELECT owner FROM runs WHERE state = 'queued'")}
        found = []
        for run_id, state in states.items():
            unwatched = self.unwatched_for(run_id)
            owner, keeps_on = catalogue.execute(
                "SELECT owner, keeps_on FROM runs WHERE id = ?", (run_id,)
            ).fetchone()
            waits = owners if state == "paused" else owners - {owner}
            if waits and (state == "paused" or not keeps_on):
                found.append((unwatched, run_id))
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
