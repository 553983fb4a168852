"""Feed: what one run has recorded, read once and kept in memory for all its viewers."""

import json
import logging
import sqlite3
import time
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np

from sandbox.foundations.errors import RunUnavailable
from sandbox.live.alone import alone
from sandbox.live.ghost import accuracy_groups, ghost_columns, ghost_readings
from sandbox.live.growing_rows import Rows, array_of
from sandbox.live.overtaken import READING, OvertakenReadings
from sandbox.live.panels import curve_columns, drawn_kinds, fact_columns, open_kinds
from sandbox.store.described import NO_STATUS, sound_of
from sandbox.store.rows import snapshot_steps
from sandbox.store.schema import WEIGHTS, require_ours
from sandbox.store.staleness import column_as_it_stands, meta_as_it_stands

SCALARS = ("loss", "train_loss", "train_accuracy", "test_loss", "test_accuracy")
"""Curves of every run; accuracies by group of rows come beside them where a task has groups."""
MOST_EVENTS, MOST_OTHERS = 500, 300
"""Events that a viewer is told at first, and those of them that are no spikes; of spikes the latest."""

OTHERS = "SELECT step, arm, seed, kind, detail FROM events WHERE kind <> 'spike' ORDER BY step, id LIMIT ?"
SPIKES = "SELECT step, arm, seed, kind, detail FROM events WHERE kind = 'spike' ORDER BY step DESC LIMIT ?"
MOST_COLUMNS = 255
"""A column's number is one byte on the wire."""
RATE_WINDOW = 3.0
READINGS = "SELECT step, dtype, shape, data FROM snapshots WHERE arm=? AND name=? AND step>? ORDER BY step"
DAMAGE: tuple[type[Exception], ...] = (sqlite3.DatabaseError, ValueError, TypeError, LookupError)
DAMAGE += (AttributeError, ArithmeticError, RecursionError, RunUnavailable)
"""What reading a damaged database raises: SQLite's own word, or content of a kind that no writer wrote."""

log = logging.getLogger(__name__)


class Feed:
    """A run folder as its viewers need it; `refresh()` takes in what is new and says whether anything was.

    Reads the tables that the store documents, forward only: a resumed run rewrites identical rows, so rows
    at known steps never change.
    """

    def __init__(self, run_id: str, folder: Path, *, recorded: bool = False) -> None:
        self.run_id = run_id
        self.folder = folder
        self.version = 0
        self.meta_version = 0
        self.meta: dict[str, Any] = {}
        self.rows: dict[tuple[int, str], Rows] = {}
        self.queued_state: dict[str, Any] | None = None
        self.groups: list[str] = []
        """Names `test_accuracy/<group>/<label>`, then the parent's."""
        self.events: list[tuple[Any, ...]] = []
        self.n_events = 0
        """Of the run, those that no viewer is told included."""
        """(step, arm, seed, kind, detail) in the order of their steps; arm and seed may be None."""
        self.stored: list[int] = []
        """The steps whose weights are kept, so that any diagnostic can be read there."""
        self.overtaken = OvertakenReadings()
        self.damage = ""
        """Why the run cannot be read; empty while it can."""
        self.recorded = recorded
        self._connection: sqlite3.Connection | None = None
        self._data_version = -1
        self._pace: deque[tuple[float, int]] = deque()

    # ------------------------------------------------------------ what the run is
    @property
    def ready(self) -> bool:
        """Whether the run has said what it is (arms, seeds, experiment) and was read once, whole."""
        return self.version > 0 and self._described

    @property
    def _described(self) -> bool:
        return {"arms", "seeds", "experiment"} <= self.meta.keys()

    @property
    def arms(self) -> list[str]:
        return [arm if isinstance(arm, str) else str(arm["name"]) for arm in self.meta.get("arms", [])]

    @property
    def seeds(self) -> list[int]:
        return list(self.meta.get("seeds", []))

    @property
    def status(self) -> dict[str, Any]:
        """state, step, seconds, reason: damage first, then the queue's word where the worker cannot speak."""
        recorded = self.meta.get("status") or NO_STATUS
        failed = {"state": "failed", "reason": self.damage} if self.damage else {}
        return {**recorded, **(self.queued_state or {}), **failed}

    @property
    def step(self) -> int:
        """The step every viewer may call `trained to`."""
        trained = max((rows.last for (_, name), rows in self.rows.items() if name == "loss"), default=0)
        return max(trained, int(self.status.get("step") or 0))

    @property
    def rate(self) -> float:
        """Steps per second over the last seconds; 0 while nothing moves."""
        if len(self._pace) < 2 or self.status.get("state") != "running":
            return 0.0
        (then, before), (now, after) = self._pace[0], self._pace[-1]
        return (after - before) / (now - then) if now > then else 0.0

    def readings(self) -> dict[str, dict[int, dict[str, Any]]]:
        """Meta of every reading by kind and arm index, NotApplicable included."""
        found: dict[str, dict[int, dict[str, Any]]] = {}
        names = self.arms
        for key, meta in self.meta.items():
            if not key.startswith("reading/"):
                continue
            arm, _, kind = key.removeprefix("reading/").rpartition("/")
            if arm in names:
                found.setdefault(kind, {})[names.index(arm)] = meta_as_it_stands(meta)
            elif arm.isdigit() and int(arm) < len(names):
                found.setdefault(kind, {})[int(arm)] = meta_as_it_stands(meta)
        return found

    def head_columns(self) -> list[str]:
        """Names `kind/column` of what was measured per head and some panel shows, the parent's last."""
        names: dict[str, None] = {}
        for kind, by_arm in sorted(self.readings().items()):
            for meta in (one for one in by_arm.values() if one.get("type") == "PerHead"):
                names.update(dict.fromkeys(f"{kind}/{column}" for column in meta["columns"]))
        whole = open_kinds()
        own = [name for name in names if name.partition("/")[0] in whole]
        found = [n for n in dict.fromkeys((*curve_columns(), *fact_columns(), *own)) if n in names]
        return found + ghost_readings(self.meta, curve_columns(), whole)

    def columns(self) -> list[str]:
        """Every column that may travel, at the place that is its number on the wire.

        What panels declare has its place from the start, so that a reading that comes late moves nothing.
        """
        declared = dict.fromkeys((*curve_columns(), *fact_columns()))
        later = [name for name in self.head_columns() if name not in declared]
        return [*SCALARS, *ghost_columns(self.meta), *declared, *self.groups, *later][:MOST_COLUMNS]

    def kinds(self) -> list[str]:
        """Kinds of reading that may travel, at the place that is their number on the wire."""
        drawn = drawn_kinds()
        return [*drawn, *sorted(set(self.readings()) - set(drawn))]

    @property
    def waiting(self) -> list[dict[str, Any]]:
        """Costly kinds that the run has yet to read: kind, step, seconds and cost of each."""
        said = self.meta.get("waiting") or (self.meta.get("status") or {}).get("waiting") or []
        return [w for w in said if isinstance(w, dict)] if isinstance(said, list) else []

    # ------------------------------------------------------------ reading it
    @alone
    def refresh(self) -> bool:
        """Take in what is new; True where anything changed. A folder that is not there yet is no error.

        Neither is a damaged database: `status` says so from then on, until it can be read again.
        """
        connection = self._connection or self._open()
        if connection is None:
            return False
        known = self.meta, self.meta_version
        try:
            (data_version,) = connection.execute("PRAGMA data_version").fetchone()
            if data_version == self._data_version:
                return False
            self._data_version = data_version
            connection.execute("BEGIN")  # one view of the run: a commit in between must not tear it
            try:
                if connection.execute("SELECT 1 FROM sqlite_schema").fetchone():
                    require_ours(connection, Path("it"))  # a foreign view may have no end
                self._read_meta(connection)
                if self._described:
                    self._read_groups(connection)
                    self._read_rows(connection)
                    last = self.stored[-1] if self.stored else -1
                    self.stored += snapshot_steps(connection, 0, WEIGHTS, last).tolist()
                    self.overtaken.read(connection, self.rows, len(self.arms))
                    self._read_events(connection)
            finally:
                if connection.in_transaction:  # a damaged page may have ended it
                    connection.execute("COMMIT")
            step = self.step
        except sqlite3.OperationalError:
            # The writer is creating its tables, or the folder was just removed: look again next time.
            self._data_version = -1
            return False
        except DAMAGE as fault:
            self.meta, self.meta_version = known
            return self.mark_damaged(fault)
        self.damage = ""
        now = time.monotonic()
        self._pace.append((now, step))
        while len(self._pace) > 2 and now - self._pace[0][0] > RATE_WINDOW:
            self._pace.popleft()
        self.version += 1
        return True

    def mark_damaged(self, fault: Exception) -> bool:
        """Let `status` say from now on that `fault` stands in the way; whether that is news."""
        damage = f"run.sqlite is damaged: {str(fault)[:200] or type(fault).__name__}"
        news = damage != self.damage
        if news:
            log.warning("%s: %s", self.folder, damage, exc_info=fault)
        self.damage = damage
        return news

    def frames(self, arm: int, kind: str, column: str, steps: list[int]) -> list[tuple[int, np.ndarray]]:
        """Stored arrays (run, ...) of one reading column at the given steps, in order."""
        if self._connection is None or not steps:
            return []
        found = []
        for step in steps:
            row = self._connection.execute(READING, (arm, f"{kind}/{column}", int(step))).fetchone()
            if row is not None:
                found.append((int(step), self._as_it_stands(arm, kind, column, int(step), array_of(*row))))
        return found

    def _as_it_stands(self, arm: int, kind: str, column: str, step: int, values: np.ndarray) -> np.ndarray:
        """A certificate's states after what has been changed since; `readings()` has the reason's words."""
        changes = self.meta.get("changes")
        if not changes:
            return values
        meta = self.readings().get(kind, {}).get(arm, {})
        return column_as_it_stands(column, values, meta, changes, self.arms[arm], step)

    def frame_steps(self, arm: int, kind: str, column: str, after: int) -> list[int]:
        """Steps above `after` at which the column is stored."""
        if self._connection is None:
            return []
        rows = self._connection.execute(
            "SELECT step FROM snapshots WHERE arm=? AND name=? AND step>? ORDER BY step",
            (arm, f"{kind}/{column}", after),
        )
        return [int(step) for (step,) in rows]

    @alone
    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection | None:
        path = self.folder / "run.sqlite"
        if not path.is_file():
            return None
        # A recorded run lies in the installed tree, which may be read-only: no -shm file can be made there.
        mode = "mode=ro&immutable=1" if self.recorded else "mode=ro"
        try:
            self._connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?{mode}", uri=True, check_same_thread=False, timeout=1.0,
                isolation_level=None,
            )  # fmt: skip
        except sqlite3.OperationalError:
            return None
        return self._connection

    def _read_meta(self, connection: sqlite3.Connection) -> None:
        said = {key: json.loads(value) for key, value in connection.execute("SELECT key, value FROM meta")}
        meta = sound_of(said, self.meta)
        moving = {"status", "waiting", "questions"}
        if {k: v for k, v in meta.items() if k not in moving} != {
            k: v for k, v in self.meta.items() if k not in moving
        }:
            self.meta_version += 1
        self.meta = meta

    def _read_groups(self, connection: sqlite3.Connection) -> None:
        if not self.groups:  # all of them come with the first evaluation
            self.groups = accuracy_groups(connection, self.meta)
            self.meta_version += bool(self.groups)

    def _read_events(self, connection: sqlite3.Connection) -> None:
        (self.n_events,) = connection.execute("SELECT COUNT(*) FROM events").fetchone()
        found = connection.execute(OTHERS, (MOST_OTHERS,)).fetchall()
        found += connection.execute(SPIKES, (MOST_EVENTS - len(found),)).fetchall()
        self.events = sorted(found, key=lambda event: event[0])

    def _read_rows(self, connection: sqlite3.Connection) -> None:
        seeds = len(self.seeds)
        heads = self.head_columns()
        for arm in range(len(self.arms)):
            for name in (*SCALARS, *ghost_columns(self.meta), *self.groups):
                rows = self.rows.setdefault((arm, name), Rows((seeds,)))
                for step, data in connection.execute(
                    "SELECT step, data FROM scalars WHERE arm=? AND name=? AND step>? ORDER BY step",
                    (arm, name, rows.last),
                ):
                    rows.append(step, np.frombuffer(data, dtype="<f8"))
            for name in heads:
                after = known.last if (known := self.rows.get((arm, name))) else -1
                for step, dtype, shape, data in connection.execute(READINGS, (arm, name, after)):
                    values = array_of(dtype, shape, data)
                    known = known or self.rows.setdefault((arm, name), Rows(values.shape))
                    known.append(step, values)
