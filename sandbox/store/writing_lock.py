"""The lock of a run's folder: one process writes it, and the lock dies with that process."""

import fcntl
import os
from pathlib import Path
from typing import IO

from sandbox.foundations.errors import RunUnavailable
from sandbox.store.folder import LOCK
from sandbox.store.schema import named_faults


def take_lock(path: Path) -> IO[str]:
    """The lock of the folder, held until the file is closed or the process dies; RunUnavailable if taken."""
    with named_faults(path / LOCK):
        lock = open(path / LOCK, "a+", encoding="ascii")  # noqa: SIM115 (it outlives this function)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as taken:
            lock.seek(0)
            holder = lock.read(20).strip()
            lock.close()
            by = f" (process {holder})" if holder.isdigit() else ""
            raise RunUnavailable(
                f"{path} is being written by another process{by}; wait for it, or choose another folder."
            ) from taken
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
    return lock
