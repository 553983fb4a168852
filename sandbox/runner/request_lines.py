"""Requests to a run's writer from other processes: lines of JSON in a file of its folder, in their order."""

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sandbox.foundations.errors import RunUnavailable

MOST_BYTES = 200_000
"""Of all requests of one kind to one run; each is a short line."""


def append_line(folder: str | Path, name: str, request: Mapping[str, Any]) -> None:
    """Add `request` to the file `name` of the run in `folder`; RunUnavailable where that cannot be."""
    path = Path(folder) / name
    line = json.dumps(request, allow_nan=False) + "\n"
    if not Path(folder).is_dir():
        raise RunUnavailable(f"There is no run folder {folder}; `list` prints those that exist.")
    try:
        with open(path, "ab", opener=_without_waiting) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if file.tell() + len(line) > MOST_BYTES:
                raise RunUnavailable(f"{path} is full; start a run of its own with the values you want.")
            file.write(line.encode())
    except OSError as fault:
        raise RunUnavailable(f"{path} cannot be written ({fault.strerror}); is the folder yours?") from fault


def _without_waiting(path: str, flags: int) -> int:
    """Open a file; a pipe in its place would wait for a reader that never comes."""
    return os.open(path, flags | os.O_NONBLOCK, 0o644)


class RequestLines:
    """The lines of one such file that its reader has not seen yet; damaged ones are nobody's."""

    def __init__(self, folder: str | Path, name: str, n_read: int = 0) -> None:
        self._path = Path(folder) / name
        self._size = 0
        self.n_read = n_read
        """How many lines have been read, those of earlier processes included."""

    def new(self) -> list[dict[str, Any]]:
        """Requests since the last call, in the order they were made; one look at the file's size if none."""
        try:
            size = self._path.stat().st_size
            if size == self._size or size > MOST_BYTES:
                return []
            read = self._path.read_bytes()[:size]
        except OSError:  # none yet, or no file: nobody's request ends a training
            return []
        self._size = size
        lines = read.split(b"\n")[:-1]
        fresh, self.n_read = lines[self.n_read :], max(self.n_read, len(lines))
        return [request for line in fresh if isinstance(request := _read(line), dict)]


def _read(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
