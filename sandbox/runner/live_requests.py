"""Asking a run for another value of a live knob: lines of a file in its folder that its trainer reads."""

from pathlib import Path
from typing import Any

from sandbox.runner.request_lines import RequestLines, append_line
from sandbox.store import Run

REQUESTS = "changes.jsonl"
ANSWERED = "changes_answered"
"""Key of the run's description under which its trainer notes how many requests it has acted on."""


def request_change(folder: str | Path, arm: str, key: str, value: float) -> None:
    """Ask the run in `folder` to use `value` for `key` of `arm`, such as "projection.shift", from now on.

    The trainer acts before its next step and records an event; what it cannot do is an event too.
    """
    append_line(folder, REQUESTS, {"arm": arm, "key": key, "value": value})


def unanswered(run: Run) -> list[dict[str, Any]]:
    """The requests that the run's trainer has yet to act on, in their order; none where it has ended."""
    if run.status["state"] not in ("running", "paused"):
        return []
    return Requests(run.path, int(run.meta(ANSWERED) or 0)).new()


class Requests:
    """The requests of one run that its trainer has not acted on yet."""

    def __init__(self, folder: str | Path, n_read: int = 0) -> None:
        self._lines = RequestLines(folder, REQUESTS, n_read)

    @property
    def n_read(self) -> int:
        """How many lines have been acted on, checkpoints included."""
        return self._lines.n_read

    def new(self) -> list[dict[str, Any]]:
        """Requests since the last call, in the order they were made."""
        return [
            request
            for request in self._lines.new()
            if all(isinstance(request.get(k), str) for k in ("arm", "key")) and "value" in request
        ]
