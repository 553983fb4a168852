"""The tables of run.sqlite, their number, and what the store's errors mean in words."""

import errno
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sandbox.foundations.errors import RunUnavailable

SCHEMA = 2
"""Number of the tables below (docs/storage.md); a reader refuses a higher one and reads every lower one."""

DDL = (
    "CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    # One row per arm, name and step; the blob holds one little-endian float64 per seed.
    "CREATE TABLE IF NOT EXISTS scalars(arm INTEGER NOT NULL, name TEXT NOT NULL, step INTEGER NOT NULL, "
    "data BLOB NOT NULL, PRIMARY KEY(arm, name, step)) WITHOUT ROWID",
    # Named "theta" for weights, "<diagnostic kind>/<column>" for readings.
    "CREATE TABLE IF NOT EXISTS snapshots(arm INTEGER NOT NULL, name TEXT NOT NULL, step INTEGER NOT NULL, "
    "dtype TEXT NOT NULL, shape TEXT NOT NULL, data BLOB NOT NULL, "
    "PRIMARY KEY(arm, name, step)) WITHOUT ROWID",
    # -1 stands for "every arm" and "every seed", because NULLs are never equal to one another.
    "CREATE TABLE IF NOT EXISTS events(id INTEGER PRIMARY KEY, step INTEGER NOT NULL, arm INTEGER NOT NULL, "
    "seed INTEGER NOT NULL, kind TEXT NOT NULL, detail TEXT NOT NULL, UNIQUE(step, arm, seed, kind))",
    # Readings that came after the commit of their step; `at` was the newest step then, `kinds` is JSON.
    "CREATE TABLE IF NOT EXISTS late(id INTEGER PRIMARY KEY, step INTEGER NOT NULL, at INTEGER NOT NULL, "
    "overtaken INTEGER NOT NULL, kinds TEXT NOT NULL)",
)

TABLES = frozenset({"meta"})
"""What a run's database of any version has; all of its tables appear in one transaction."""

_MADE_UP = re.compile(r"\b(AS|VIRTUAL|TRIGGER)\b", re.IGNORECASE)
"""In the SQL of views, virtual tables, computed columns and triggers, which need not ever end."""

ALL = -1
"""The arm or seed of an event that concerns every one of them."""

WEIGHTS = "theta"
"""Snapshot name of the weights; readings hold a slash and so never collide with it."""

STATES = ("queued", "running", "paused", "stalled", "stopped", "failed", "done")

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FULL_SQLITE = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_FSYNC,
    sqlite3.SQLITE_IOERR_TRUNCATE,
    sqlite3.SQLITE_IOERR_SHMSIZE,
}
_PERHAPS_FULL = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}
"""What SQLite says, with many endings, of a file beside the database that could not grow either."""

PAGES = 16 * 4096
"""Bytes below which a disk has no room for SQLite's least step."""


class StorageFull(RunUnavailable):
    """The disk takes no more; what could not be written is kept in memory and can be tried again."""


@contextmanager
def named_faults(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the file system into a sentence that names `path`.

    Raises StorageFull where the disk is full, RunUnavailable for anything else.
    """
    try:
        yield
    except sqlite3.Error as fault:
        code = getattr(fault, "sqlite_errorcode", 0)
        if code in _FULL_SQLITE or (code & 0xFF in _PERHAPS_FULL and _no_room(path)):
            raise _full(path, fault) from fault
        raise RunUnavailable(
            f"{path} cannot be used: {fault}; restore it from a copy, or start a new run."
        ) from fault
    except UnicodeDecodeError as fault:  # SQLite's own words quote what the damaged file holds
        raise RunUnavailable(
            f"{path} cannot be used: it holds what is no text ({fault.reason}); restore it from a copy."
        ) from fault
    except OSError as fault:
        if fault.errno in _FULL:
            raise _full(path, fault) from fault
        if isinstance(fault, FileNotFoundError) and not path.parent.is_dir():
            raise RunUnavailable(
                f"{path} cannot be used: its folder is not there; it was moved or deleted."
            ) from fault
        raise RunUnavailable(
            f"{path} cannot be used: {fault.strerror or fault}; check that it exists and is yours."
        ) from fault


def _no_room(path: Path) -> bool:
    try:
        disk = os.statvfs(path.parent)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < PAGES


def _full(path: Path, fault: Exception) -> StorageFull:
    return StorageFull(f"{path} cannot grow: the disk is full ({fault}); free some space, then resume.")


def foreign_tables(db: sqlite3.Connection) -> str:
    """The tables of a database that is not a run's, in words; empty where it is one, or has none yet."""
    try:
        found = {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    except sqlite3.OperationalError:
        return ""
    return "" if found >= TABLES else ", ".join(repr(name[:40]) for name in sorted(found)[:6])


def require_ours(db: sqlite3.Connection, path: Path) -> None:
    """Raise RunUnavailable, naming what it is, unless the database `path` has the tables of a run."""
    if listed := foreign_tables(db):
        raise RunUnavailable(
            f"{path} is a foreign SQLite file with the tables {listed}, not a run's; put the run's own there."
        )
    if not db.execute("SELECT 1 FROM sqlite_schema").fetchone():
        raise RunUnavailable(f"{path} is an empty database; nothing was recorded, or the copy is incomplete.")
    for name, sql in db.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall():
        if _MADE_UP.search(str(sql)):
            raise RunUnavailable(
                f"{path} computes {str(name)[:40]!r} instead of holding it; restore it from a copy."
            )


def require_schema(found: Any, path: Path) -> None:
    """Raise RunUnavailable unless `found`, the number stored in `path`, is one this version reads."""
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise RunUnavailable(f"{path} is not a run's database: no schema number; open a run's folder.")
    if found > SCHEMA:
        raise RunUnavailable(
            f"{path} has schema {found} and this version reads up to {SCHEMA}; update the sandbox."
        )
