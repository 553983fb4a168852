"""Asking a run for another value of a live knob: lines of a file in its folder that its trainer reads."""

import fcntl
import json
from pathlib import Path
from typing import Any

from sandbox.foundations.errors import RunUnavailable

REQUESTS = "changes.jsonl"
MOST_BYTES = 200_000
"""Of all requests to one run; each is a short line."""


def request_change(folder: str | Path, arm: str, key: str, value: float) -> None:
    """Ask the run in `folder` to use `value` for `key` of `arm`, such as "projection.shift", from now on.

    The trainer acts before its next step and records an event; what it cannot do is an event too.
    """
    path = Path(folder) / REQUESTS
    line = json.dumps({"arm": arm, "key": key, "value": value}, allow_nan=False) + "\n"
    if not Path(folder).is_dir():
        raise RunUnavailable(f"There is no run folder {folder}; `list` prints those that exist.")
    with open(path, "ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if file.tell() + len(line) > MOST_BYTES:
            raise RunUnavailable(f"{path} is full; start a run of its own with the values you want.")
        file.write(line.encode())


class Requests:
    """The requests of one run that its trainer has not acted on yet."""

    def __init__(self, folder: str | Path, n_read: int = 0) -> None:
        self._path = Path(folder) / REQUESTS
        self._size = 0
        self.n_read = n_read
        """How many lines have been acted on, checkpoints included."""

    def new(self) -> list[dict[str, Any]]:
        """Requests since the last call, in the order they were made; one look at the file's size if none."""
        try:
            size = self._path.stat().st_size
        except FileNotFoundError:
            return []
        if size == self._size or size > MOST_BYTES:
            return []
        self._size = size
        lines = self._path.read_bytes()[:size].split(b"\n")[:-1]
        fresh, self.n_read = lines[self.n_read :], max(self.n_read, len(lines))
        return [request for line in fresh if (request := _read(line)) is not None]


def _read(line: bytes) -> dict[str, Any] | None:
    """The request of a line; a damaged one is nobody's."""
    try:
        request = json.loads(line)
    except ValueError:
        return None
    texts = isinstance(request, dict) and all(isinstance(request.get(k), str) for k in ("arm", "key"))
    return request if texts and "value" in request else None
