"""Late readings: those of a step that readers could take for complete when they were recorded."""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sandbox.store import rows

INSERT = "INSERT INTO late(step, at, overtaken, kinds) VALUES(?,?,?,?)"
_BACKWARDS = "SELECT id, step, at, overtaken, kinds FROM late WHERE id > ? ORDER BY id DESC"
_THERE = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'late'"
_LAST_SCALAR = "SELECT max(step) FROM scalars WHERE arm = ? AND name = ?"
_LAST_SNAPSHOT = "SELECT max(step) FROM snapshots WHERE arm = ? AND name = ?"


@dataclass(frozen=True)
class Late:
    """Readings of `kinds` at `step` that came when the run already had rows of the step `at`."""

    id: int
    step: int
    at: int
    overtaken: bool
    """Whether a later reading of the same kind was there before, so that its steps do not only grow."""
    kinds: tuple[str, ...]


class LateReadings:
    """What its writer notes about the order in which readings come; `rows` empties it at a commit."""

    def __init__(self, db: sqlite3.Connection, n_arms: int) -> None:
        self._newest = self._committed = -1
        self._newest_of: dict[str, int] = {}
        self._waiting: dict[tuple[int, bool], set[str]] = {}
        for arm in range(n_arms):
            for name in rows.names(db, "scalars", arm):
                if name.startswith(rows.BEFORE):
                    continue
                self.step(db.execute(_LAST_SCALAR, (arm, name)).fetchone()[0])
            for name in rows.names(db, "snapshots", arm):
                if name.startswith(rows.BEFORE):
                    continue
                (last,) = db.execute(_LAST_SNAPSHOT, (arm, name)).fetchone()
                kind, slash, _ = name.partition("/")
                if slash:
                    self._newest_of[kind] = max(self._newest_of.get(kind, -1), last)
                self.step(last)
        self._committed = self._newest

    def step(self, step: int) -> None:
        """A row of `step` is recorded."""
        self._newest = max(self._newest, step)

    def reading(self, step: int, kind: str) -> None:
        """A reading of `kind` at `step` is recorded."""
        if step <= self._committed:
            overtaken = step < self._newest_of.get(kind, -1)
            self._waiting.setdefault((step, overtaken), set()).add(kind)
        self._newest_of[kind] = max(self._newest_of.get(kind, -1), step)
        self.step(step)

    def rows(self) -> list[tuple[Any, ...]]:
        """The rows to insert with what is committed now."""
        # `at` is the newest step of this very commit: who has seen an older state of the run is told again.
        found = [
            (step, self._newest, int(overtaken), json.dumps(sorted(kinds)))
            for (step, overtaken), kinds in self._waiting.items()
        ]
        self._waiting.clear()
        self._committed = self._newest
        return found


def late_readings(db: sqlite3.Connection, after: int = 0, since: int = -1) -> list[Late]:
    """Those with an id above `after` that came when the run stood at `since` or later, oldest first.

    Costs what it finds; a run of an earlier version has none.
    """
    if db.execute(_THERE).fetchone() is None:
        return []
    return list(_backwards(db, after, since))[::-1]


def _backwards(db: sqlite3.Connection, after: int, since: int) -> Iterator[Late]:
    for number, step, at, overtaken, kinds in db.execute(_BACKWARDS, (after,)):
        if not (isinstance(step, int) and isinstance(at, int)):
            raise sqlite3.DatabaseError("late holds a step that is no number")
        if at < since:  # `at` only grows
            return
        yield Late(number, step, at, bool(overtaken), _kinds(kinds))


def _kinds(text: Any) -> tuple[str, ...]:
    try:
        found = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(isinstance(kind, str) for kind in found):
        raise sqlite3.DatabaseError("late holds what is no list of kinds")
    return tuple(found)
