"""The lock that makes a supervisor the only one of its runs folder."""

import fcntl
import os
import time
from pathlib import Path

from sandbox.foundations.errors import RunUnavailable


class SupervisorLock:
    """Held from creation until `release`; it dies with the process.

    RunUnavailable where another process holds it, or where the folder cannot be written.
    """

    def __init__(self, runs: Path) -> None:
        try:
            runs.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(runs / "supervisor.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise RunUnavailable(
                f"The runs folder {runs} cannot be written ({error.strerror}); "
                "make it yours, or name another in SANDBOX_RUNS."
            ) from error
        for _ in range(20):  # a page that asks whether a supervisor runs holds a shared lock for a moment
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                time.sleep(0.02)
        os.close(self._descriptor)
        raise RunUnavailable(f"A supervisor already runs for {runs}; there is one per runs folder.")

    def release(self) -> None:
        """Let the next supervisor in."""
        os.close(self._descriptor)
