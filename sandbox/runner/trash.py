"""The trash: a deleted run lies there for a day, whole, and can be put back; then it is gone."""

import fcntl
import json
import logging
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.foundations.errors import RunUnavailable
from sandbox.runner import steering
from sandbox.runner.queue import catalogue_connection
from sandbox.store.folder import LOCK, run_path, runs_root, write_whole
from sandbox.store.schema import named_faults

TRASH = ".trash"
"""Folder below the runs folder; what lists runs looks for no run in it."""
DAY = 86_400.0
SLIP = "deleted.json"
"""Beside what a run's folder holds: when it was deleted, and its line in the queue."""
ACTIVE = ("queued", "running", "paused", "stalled")
COLUMNS = (
    "id", "owner", "name", "plain", "device", "state", "reason", "created", "started", "finished",
    "attempt", "step", "flops", "keeps_on", "began", "torch",
)  # fmt: skip
LATER = {"torch": 0.0}
"""Of those the ones that a run deleted under an earlier version lacks, and what they are then."""
_FIND = (
    "SELECT id, owner, name, plain, device, state, reason, created, started, finished, attempt, step, "
    "flops, keeps_on, began, torch FROM runs WHERE id = ?"
)
_PUT = (
    "INSERT INTO runs(id, owner, name, plain, device, state, reason, created, started, finished, "
    "attempt, step, flops, keeps_on, began, torch) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Deleted:
    """A run in the trash."""

    id: str
    name: str
    deleted: float
    """When, in seconds since 1970."""
    folder: Path

    @property
    def until(self) -> float:
        """When it is gone for good."""
        return self.deleted + DAY


def delete(run_id: str, by: str, root: Path | None = None) -> None:
    """Move a run that is over into the trash.

    RunUnavailable where it is not over, is being written, belongs to another than `by`, or is not there.
    """
    root = root or runs_root()
    folder = run_path(run_id, root)
    if not folder.is_dir():
        raise RunUnavailable(f"There is no run {run_id} to delete; it may be in the trash already.")
    with _held(folder, run_id):
        row = _take_from_queue(run_id, by, root)
        try:
            slip = {"deleted": time.time(), "by": by, "queue": row}
            write_whole(folder / SLIP, json.dumps(slip).encode())
            (root / TRASH).mkdir(exist_ok=True)
            with named_faults(folder):
                os.rename(folder, _free_place(root / TRASH, run_id))
        except BaseException:
            _put_into_queue(row, root)
            (folder / SLIP).unlink(missing_ok=True)
            raise


def restore(run_id: str, by: str, root: Path | None = None) -> None:
    """Put a run from the trash back where it was.

    RunUnavailable where it is gone, its place is taken, or `by` may not steer it.
    """
    root = root or runs_root()
    found = next((run for run in deleted(root) if run.id == run_id), None)
    if found is None:
        raise RunUnavailable(f"{run_id[:80]!r} is not in the trash; a deleted run stays there for a day.")
    target = run_path(run_id, root)
    if target.exists():
        raise RunUnavailable(f"There is another run {run_id} now; rename or delete that one first.")
    row = _slip(found.folder).get("queue")
    owner = str(row.get("owner", "")) if isinstance(row, dict) else ""
    if refused := steering.refusal(owner, by):
        raise RunUnavailable(refused)
    with named_faults(found.folder):
        os.rename(found.folder, target)
    _put_into_queue(row, root)
    (target / SLIP).unlink(missing_ok=True)


def deleted(root: Path | None = None) -> list[Deleted]:
    """What lies in the trash, the last deleted first."""
    found = []
    for slip in (root or runs_root()).glob(f"{TRASH}/*/{SLIP}"):
        said = _slip(slip.parent)
        run_id = slip.parent.name.partition("~")[0]
        name = str((said.get("queue") or {}).get("name") or run_id)
        when = said.get("deleted")
        moment = float(when) if isinstance(when, int | float) else slip.stat().st_mtime
        found.append(Deleted(run_id, name, moment, slip.parent))
    return sorted(found, key=lambda run: -run.deleted)


def purge(root: Path | None = None, now: float | None = None) -> list[str]:
    """Remove for good what was deleted more than a day ago; returns the ids. A clock set back keeps more."""
    now = time.time() if now is None else now
    gone = [run for run in deleted(root) if now >= run.until]
    for run in gone:
        shutil.rmtree(run.folder, ignore_errors=True)
        log.info("run %s was deleted a day ago and is gone", run.id)
    return [run.id for run in gone]


def keep_purging(root: Path, every: float = 600.0) -> None:
    """Purge now and then every so many seconds, in a thread that ends with its process."""

    def go_on() -> None:
        while True:
            purge(root)
            time.sleep(every)

    threading.Thread(target=go_on, name="trash", daemon=True).start()


@contextmanager
def _held(folder: Path, run_id: str) -> Iterator[None]:
    """Hold the run's own lock, so that no writer can come while it is moved."""
    with named_faults(folder / LOCK):
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as busy:
            raise RunUnavailable(f"{run_id} is being written; stop it first, then delete it.") from busy
        yield
    finally:
        os.close(descriptor)


def _take_from_queue(run_id: str, by: str, root: Path) -> dict[str, Any] | None:
    with catalogue_connection(root) as connection:
        connection.execute("BEGIN IMMEDIATE")  # nobody can start it between the look and the deletion
        found = connection.execute(_FIND, (run_id,)).fetchone()
        row = dict(zip(COLUMNS, found, strict=True)) if found else None
        if row is None:
            return None
        if row["state"] in ACTIVE:
            raise RunUnavailable(f"{run_id} is {row['state']}; stop it first, then delete it.")
        if row["owner"] != by:
            raise RunUnavailable(f"{run_id} belongs to {row['owner'][:60]}; only its owner deletes it.")
        connection.execute("DELETE FROM runs WHERE id = ?", (run_id,))
        return row


def _put_into_queue(row: Any, root: Path) -> None:
    if isinstance(row, dict):
        row = LATER | row
    if not isinstance(row, dict) or set(row) != set(COLUMNS):
        return
    with catalogue_connection(root) as connection:
        try:
            connection.execute(_PUT, [row[name] for name in COLUMNS])
        except sqlite3.IntegrityError:
            log.warning("run %s is in the queue already", row["id"])


def _slip(folder: Path) -> dict[str, Any]:
    try:
        said = json.loads((folder / SLIP).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _free_place(trash: Path, run_id: str) -> Path:
    """A folder in the trash for a run of this id, of which another may lie there already."""
    place, number = trash / run_id, 1
    while place.exists():
        place, number = trash / f"{run_id}~{number}", number + 1
    return place
