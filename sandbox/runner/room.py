"""Room on the disk: waiting for it, a reserve for the queue's own words, and thinning what takes too much."""

import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sandbox.foundations.errors import SandboxError
from sandbox.runner.limits import free_bytes, limits, run_budget, stored_bytes
from sandbox.store import RunWriter
from sandbox.store.budget import LEAST_KEPT, snapshot_bytes, thin_folder, thin_snapshots
from sandbox.store.folder import BALLAST_FILE, run_folders
from sandbox.store.labels import read_labels
from sandbox.store.schema import StorageFull

DISK_FULL = "paused, the disk is full"
"""The state in which a run waits for room, as it is told to whoever started it."""

SENTENCE = "The disk is full; the run waits and goes on by itself when there is room."

RESERVE = 16e6
"""Bytes below which a run waits before the disk is full, so that it can still say so."""

BALLAST = 4 * 2**20
"""Bytes of a file that the supervisor gives up, so that the queue can be written on a full disk."""

RETRY = 0.5
"""Seconds between two tries to go on."""

LOOK = 5.0
"""Seconds between two looks at what a running run has stored."""

log = logging.getLogger(__name__)


class Patience:
    """Writes of one run that wait where the disk is full; `wait_told` is called while they do."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.gives_up: Callable[[], bool] = lambda: False
        """Asked while waiting: whether somebody would rather have the run end."""

    @property
    def scarce(self) -> bool:
        """Whether there is less room than the reserve."""
        try:
            return free_bytes(self._folder) < reserve()
        except OSError:
            return False

    def through(self, write: Callable[[], object], tell: Callable[[], None]) -> bool:
        """Do `write`, waiting for room as long as it takes; whether it waited.

        Calls `tell` twice a second meanwhile. Raises StorageFull where `gives_up` says so.
        """
        waited = False
        while True:
            try:
                write()
                return waited
            except StorageFull:
                if self.gives_up():
                    raise
                waited = True
                tell()
                self._wait(tell)

    def until_room(self, tell: Callable[[], None]) -> None:
        """Wait while there is less than twice the reserve, unless `gives_up`."""
        while not self.gives_up() and free_bytes(self._folder) < 2 * reserve():
            tell()
            time.sleep(RETRY)

    def _wait(self, tell: Callable[[], None]) -> None:
        time.sleep(RETRY)
        if self.scarce:
            self.until_room(tell)


class RunBudget:
    """Keeps what a running run has stored within its budget, at the cost of snapshots alone."""

    def __init__(self) -> None:
        self._looked = time.monotonic()
        self._most = run_budget()

    def turn(self, writer: RunWriter) -> None:
        """Thin the snapshots where there is too much; call it after a commit."""
        now = time.monotonic()
        if now - self._looked < LOOK:
            return
        self._looked = now
        if snapshot_bytes(writer) > self._most:
            thin_snapshots(writer, self._most)


class Ballast:
    """A file that only takes room, until room is needed to say that there is none."""

    def __init__(self, runs: Path) -> None:
        self._path = runs / BALLAST_FILE
        self._runs = runs

    def keep(self) -> None:
        """Have it there, if the disk has room for it and for what runs need."""
        with suppress(OSError):
            if not self._path.exists() and free_bytes(self._runs) > 3 * reserve():
                with open(self._path, "wb") as file:
                    os.posix_fallocate(file.fileno(), 0, BALLAST)

    def drop(self) -> bool:
        """Give its room free; whether it was there."""
        try:
            self._path.unlink()
        except OSError:
            return False
        return True


def reserve() -> float:
    """SANDBOX_RESERVE_MB in bytes, else RESERVE."""
    try:
        return 1e6 * float(os.environ["SANDBOX_RESERVE_MB"])
    except (KeyError, ValueError):
        return RESERVE


def keep_within_budget(runs: Path) -> list[str]:
    """Thin snapshots of runs that are over, oldest first and pinned ones last, until all fit; their ids.

    Only where SANDBOX_RUNS_GB sets a budget. Scalars and events stay; runs of earlier formats are left alone.
    """
    most = limits().all_storage
    if most is None:
        return []
    excess, thinned = stored_bytes(runs) - most, []
    oldest = list(reversed(run_folders(runs)))
    for folder in sorted(oldest, key=_is_pinned):
        if excess <= 0:
            break
        try:
            freed = thin_folder(folder, LEAST_KEPT)
        except SandboxError as error:  # in use, damaged, or no room to do it: the next one may help
            log.info("%s was not thinned: %s", folder.name, error)
            continue
        if freed:
            thinned.append(folder.name)
            excess -= freed
    return thinned


def keep_watching(runs: Path, every: float = 60.0) -> None:
    """Keep the runs within their budget from now on, in a thread that ends with its process."""

    def go_on() -> None:
        while True:
            try:
                keep_within_budget(runs)
            except OSError as error:
                log.warning("the runs folder could not be measured: %s", error)
            time.sleep(every)

    threading.Thread(target=go_on, name="budget", daemon=True).start()


def _is_pinned(folder: Path) -> bool:
    try:
        return read_labels(folder).pinned
    except SandboxError:
        return True
