"""Reading run.sqlite without a trace: while it is written, after a crash, from a read-only copy."""

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from stat import S_ISREG
from typing import TypeVar

from sandbox.foundations.errors import RunUnavailable
from sandbox.store.schema import named_faults

T = TypeVar("T")
Signature = tuple[tuple[int, int, int] | None, ...]

_SHARED = "mode=ro"
_STILL = "mode=ro&immutable=1"
_UNLOCKED = "mode=ro&vfs=unix-none"
_BUSY_SECONDS = 10.0
_TRIES = 8


class ReadOnlyDatabase:
    """A database that others may write; every `read` sees one consistent state of it.

    SQLite's log needs a shared index file, which plain read-only opening would create. So:
    *shared* where that index exists (a writer lives, or died); *still* where there is no log, so
    that nothing is created; *unlocked*, with the index in memory, where a log came without its
    index (a copied folder) or the index cannot be opened (a read-only disk). The last two hold
    only while nobody writes, so the files are compared around each read, and it is repeated when
    a writer came.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._guard = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._seen: Signature = ()
        self._shared = False

    def read(self, ask: Callable[[sqlite3.Connection], T], transaction: bool = True) -> T:
        """What `ask` finds, by default within one read transaction; it must not keep the connection.

        Raises RunUnavailable, naming the file, where it is missing, foreign or damaged.
        """
        with self._guard, named_faults(self.path):
            for last in [False] * (_TRIES - 1) + [True]:
                before = self._signature()
                try:
                    connection = self._open(before)
                    if transaction:
                        connection.execute("BEGIN")
                    try:
                        answer = ask(connection)
                    finally:
                        if connection.in_transaction:
                            connection.execute("ROLLBACK")
                except sqlite3.Error:
                    moved = self._signature() != before
                    self._close()
                    if moved and not last:
                        continue
                    raise
                if self._shared or self._signature() == before:
                    return answer
        raise RunUnavailable(f"{self.path} keeps changing under its reader; try again.")

    def close(self) -> None:
        """Let go of the file; the next `read` opens it again."""
        with self._guard:
            self._close()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self, signature: Signature) -> sqlite3.Connection:
        if self._connection is not None and (self._shared or signature == self._seen):
            return self._connection
        self._close()
        if signature[0] is None:
            raise RunUnavailable(f"{self.path} is missing; nothing was recorded, or the copy is incomplete.")
        _, log, index = signature
        self._seen, self._shared = signature, log is not None and index is not None
        if self._shared:
            try:
                self._connection = self._connect(_SHARED)
            except sqlite3.OperationalError:
                self._shared = False
                self._connection = self._connect(_UNLOCKED)
        else:
            self._connection = self._connect(_UNLOCKED if log is not None and log[2] else _STILL)
        return self._connection

    def _connect(self, how: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?{how}",
            uri=True,
            isolation_level=None,
            timeout=_BUSY_SECONDS,
            check_same_thread=False,
        )
        try:
            if how == _UNLOCKED:
                connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection

    def _signature(self) -> Signature:
        return tuple(_stamp(self.path.with_name(self.path.name + end)) for end in ("", "-wal", "-shm"))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    if not S_ISREG(found.st_mode):  # SQLite would wait for a pipe
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
