"""Asking a run for another value of a live knob: lines of a file in its folder that its trainer reads."""

from pathlib import Path
from typing import Any

from sandbox.runner.request_lines import RequestLines, append_line

REQUESTS = "changes.jsonl"


def request_change(folder: str | Path, arm: str, key: str, value: float) -> None:
    """Ask the run in `folder` to use `value` for `key` of `arm`, such as "projection.shift", from now on.

    The trainer acts before its next step and records an event; what it cannot do is an event too.
    """
    append_line(folder, REQUESTS, {"arm": arm, "key": key, "value": value})


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
