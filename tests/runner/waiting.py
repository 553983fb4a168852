"""Waiting for other processes, and what is known about their runs."""

import time
from collections.abc import Callable
from pathlib import Path

from sandbox.runner import queue


def eventually(truth: Callable[[], object], seconds: float = 60.0) -> None:
    """Return once `truth()` holds; fail where it does not within `seconds`, which a busy machine may need."""
    deadline = time.monotonic() + seconds
    while not truth():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.005)


def known(run_id: str) -> queue.QueuedRun:
    """The queue's row of a run that it must have."""
    found = queue.state(run_id)
    assert found is not None
    return found


def alive(pid: int) -> bool:
    """Whether the process runs; one that only waits to be buried does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
