"""RunWriter: the one process that records a run; many readers may look on."""

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
from jaxtyping import Float

from sandbox.foundations.errors import RunUnavailable
from sandbox.foundations.readings import Answer, encode
from sandbox.store.checkpoint import checkpoint_files, latest_checkpoint, save_checkpoint
from sandbox.store.described import VITAL, as_recorded
from sandbox.store.folder import DATABASE, EXPERIMENT, make_folder, plain_text, read_experiment, write_whole
from sandbox.store.late import INSERT, LateReadings
from sandbox.store.migrations import migrate
from sandbox.store.rows import BEFORE
from sandbox.store.schema import ALL, DDL, SCHEMA, STATES, WEIGHTS, named_faults, require_schema
from sandbox.store.writing_lock import take_lock

_SCALAR = "INSERT OR REPLACE INTO scalars VALUES(?,?,?,?)"
_SNAPSHOT = "INSERT OR REPLACE INTO snapshots VALUES(?,?,?,?,?,?)"
_META = "INSERT OR REPLACE INTO meta VALUES(?,?)"
# The id of a repeated event stays, so that a reader which follows ids does not meet it twice.
_EVENT = (
    "INSERT INTO events(step, arm, seed, kind, detail) VALUES(?,?,?,?,?) "
    "ON CONFLICT(step, arm, seed, kind) DO UPDATE SET detail = excluded.detail"
)
_DURABLE = "PRAGMA synchronous = FULL"
_QUICK = "PRAGMA synchronous = NORMAL"
_BUSY_SECONDS = 10.0


class RunWriter:
    """Records one run. Rows wait in memory until `commit`, which writes them all or none.

    Every row is keyed by arm, name and step: a resumed run that records a step again replaces
    the same rows. Commit between steps, never within one: `Run.since` counts a step as complete.
    """

    def __init__(self, path: Path, plain: Mapping[str, Any], lock: IO[str]) -> None:
        """Use `create`, `resume` or `open`, which take the lock."""
        self.path = path
        self.experiment = dict(plain)
        self.arms: tuple[str, ...] = tuple(arm["name"] for arm in plain["arms"])
        self.seeds: tuple[int, ...] = tuple(plain["seeds"])
        self._lock = lock
        self._pending: list[tuple[str, tuple[Any, ...]]] = []
        self._known: dict[str, str] = {}
        self._database = path / DATABASE
        self._connection = self._open_database()

    @classmethod
    def create(cls, path: Path | str, plain: Mapping[str, Any], **meta: Any) -> "RunWriter":
        """Start recording into an empty or missing folder; `meta` as in `describe`.

        Raises RunUnavailable where the folder holds a run already or another process writes it.
        """
        path = Path(path)
        if (path / DATABASE).exists():
            raise RunUnavailable(f"{path} holds a run already; resume it, or choose another folder.")
        return cls.open(path, plain, **meta)

    @classmethod
    def resume(cls, path: Path | str, plain: Mapping[str, Any]) -> "RunWriter":
        """Go on recording the run in `path`, which must be of the experiment `plain`."""
        path = Path(path)
        read_experiment(path)
        return cls.open(path, plain)

    @classmethod
    def open(cls, path: Path | str, plain: Mapping[str, Any], **meta: Any) -> "RunWriter":
        """Resume the run in `path` where there is one, else create it.

        Raises RunUnavailable where another process writes it or it is of another experiment.
        """
        path = Path(path).absolute()
        make_folder(path)
        lock = take_lock(path)
        try:
            if not (path / EXPERIMENT).exists():
                if (path / DATABASE).exists():
                    raise RunUnavailable(f"{path / EXPERIMENT} is missing; restore it from a copy.")
                write_whole(path / EXPERIMENT, json.dumps(plain, indent=1, ensure_ascii=False).encode())
            if checkpoint_files(path) and _is_empty(path / DATABASE):
                raise RunUnavailable(
                    f"{path / DATABASE} is missing or empty beside checkpoints of the run, so its curves are "
                    "lost; restore it from a copy, or choose another folder."
                )
            stored = read_experiment(path)
            if plain_text(stored) != plain_text(plain):
                changed = ", ".join(sorted(k for k in {*stored, *plain} if stored.get(k) != plain.get(k)))
                raise RunUnavailable(
                    f"{path} holds a different experiment (other {changed[:200]}); choose another folder."
                )
            writer = cls(path, plain, lock)
        except BaseException:
            lock.close()
            raise
        if meta:
            writer.describe(**meta)
        return writer

    def _open_database(self) -> sqlite3.Connection:
        with named_faults(self._database):
            connection = sqlite3.connect(
                self._database, isolation_level=None, timeout=_BUSY_SECONDS, check_same_thread=False
            )
        try:
            with named_faults(self._database):
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("BEGIN IMMEDIATE")
                for table in DDL:
                    connection.execute(table)
                self._known = dict(connection.execute("SELECT key, value FROM meta"))
                if not self._known:
                    self._known = {
                        "schema": str(SCHEMA),
                        "experiment": plain_text(self.experiment),
                        "arms": plain_text(self.arms),
                        "seeds": plain_text(self.seeds),
                        "created": plain_text(time.time()),
                        "status": plain_text({"state": "queued", "step": 0, "seconds": 0.0, "reason": ""}),
                    }
                    connection.executemany(_META, self._known.items())
                migrate(connection, self._known, SCHEMA)
                connection.execute("COMMIT")
                self._late = LateReadings(connection, len(self.arms))
            require_schema(json.loads(self._known.get("schema", "null")), self._database)
            for key in VITAL:
                self.described(key)
        except BaseException:
            connection.close()
            raise
        return connection

    @property
    def connection(self) -> sqlite3.Connection:
        """The database that this writer alone writes, for what else belongs to the store."""
        return self._connection

    def describe(self, **meta: Any) -> None:
        """Record facts of the whole run as JSON values: `lines`, `notes`, `task`, `device`."""
        for key, value in meta.items():
            self._meta(key, value)

    def described(self, key: str) -> Any:
        """The JSON value last recorded under `key`, by this writer or an earlier one; None if nothing."""
        return as_recorded(key, json.loads(self._known.get(key, "null")), self._database)

    def layout(self, arm: int | str, layout: Any) -> None:
        """Record how one row of `arm`'s weights divides into parameters (JSON: names, shapes, offsets)."""
        self._meta(f"layout/{self._arm(arm)}", layout)

    def scalars(
        self, arm: int | str, name: str, steps: Sequence[int] | np.ndarray, values: Float[np.ndarray, "n run"]
    ) -> None:
        """Record `values` of the curve `name` at `steps`, one column per seed; NaN and Inf are kept."""
        index = self._arm(arm)
        rows = np.ascontiguousarray(values, dtype="<f8")
        if rows.shape != (len(steps), len(self.seeds)):
            raise ValueError(f"{name} is {rows.shape} for {len(steps)} steps and {len(self.seeds)} seeds")
        self._pending += [
            (_SCALAR, (index, name, int(step), row.tobytes())) for step, row in zip(steps, rows, strict=True)
        ]
        if not name.startswith(BEFORE):
            self._late.step(max(map(int, steps), default=-1))

    def reading(self, step: int, arm: int | str, kind: str, reading: Answer) -> None:
        """Record a diagnostic's answer at `step`; what is the same at every step is stored once."""
        self.encoded_reading(step, arm, kind, *encode(reading))

    def encoded_reading(
        self,
        step: int,
        arm: int | str,
        kind: str,
        columns: Mapping[str, np.ndarray],
        meta: Mapping[str, Any],
    ) -> None:
        """Record what `encode` made of an answer."""
        index = self._arm(arm)
        if columns:
            self._late.reading(step, kind)
        key = f"reading/{index}/{kind}"
        if key not in self._known:
            self._meta(key, meta)
        elif self._known[key] != plain_text(meta):
            row = (index, f"{kind}/", step, "json", "[]", plain_text(meta).encode())
            self._pending.append((_SNAPSHOT, row))
        for column, array in columns.items():
            self._array(index, f"{kind}/{column}", step, array)

    def weights(self, step: int, arm: int | str, theta: Float[np.ndarray, "run parameter"]) -> None:
        """Record the weights of every seed of `arm` after `step`."""
        self._array(self._arm(arm), WEIGHTS, step, theta)

    def past(self, step: int, arm: int | str, column: str, array: np.ndarray) -> None:
        """Record what a parent's reading `kind/column` was at `step`, one row per seed."""
        self._array(self._arm(arm), f"{BEFORE}{column}", step, array)

    def event(
        self, step: int, kind: str, detail: str = "", arm: int | str | None = None, seed: int | None = None
    ) -> None:
        """Record that something happened; the same kind at the same step, arm and seed is one event."""
        index = ALL if arm is None else self._arm(arm)
        self._pending.append((_EVENT, (int(step), index, ALL if seed is None else int(seed), kind, detail)))

    def status(self, state: str, step: int, seconds: float, reason: str = "", **more: Any) -> None:
        """Record the run's state; `seconds` is its training time, `more` any further JSON values.

        `arm_seconds`, training seconds by the arm's name, is what `summarize` divides by the steps.
        """
        if state not in STATES:
            raise ValueError(f"{state!r} is not one of {STATES}")
        self._meta("status", {"state": state, "step": step, "seconds": seconds, "reason": reason} | more)

    def checkpoint(self, step: int, arrays: Mapping[str, np.ndarray]) -> None:
        """Commit, then store the state to resume from: a checkpoint never runs ahead of the rows."""
        self.commit(durable=True)
        save_checkpoint(self.path, step, arrays)

    def latest_checkpoint(self) -> tuple[int, dict[str, np.ndarray]] | None:
        """Step and arrays of the youngest sound checkpoint, or None."""
        return latest_checkpoint(self.path)

    def commit(self, durable: bool = False) -> None:
        """Write everything recorded since the last commit, all or nothing.

        Raises StorageFull or RunUnavailable; the rows then wait for the next commit. A commit
        survives the death of the process; a `durable` one also survives a power cut.
        """
        if durable:  # SQLite syncs its log at a commit, so there must be one
            self._pending.append((_META, ("status", self._known["status"])))
        self._pending += [(INSERT, row) for row in self._late.rows()]
        if not self._pending:
            return
        with named_faults(self._database):
            self._connection.execute(_DURABLE if durable else _QUICK)
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                start = 0
                for end in range(1, len(self._pending) + 1):
                    statement = self._pending[start][0]
                    if end == len(self._pending) or self._pending[end][0] is not statement:
                        self._connection.executemany(statement, (row for _, row in self._pending[start:end]))
                        start = end
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
        self._pending.clear()

    def close(self) -> None:
        """Commit, fold the log into run.sqlite so that the folder can be copied, and free the lock.

        Raises StorageFull where the last rows could not be written; the lock is freed all the same.
        """
        if self._lock.closed:
            return
        try:
            self.commit()
            with suppress(sqlite3.Error):  # the log is as good a place for the rows
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self._connection.close()
            self._lock.close()

    def __enter__(self) -> "RunWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def _arm(self, arm: int | str) -> int:
        return self.arms.index(arm) if isinstance(arm, str) else range(len(self.arms))[arm]

    def _meta(self, key: str, value: Any) -> None:
        text = plain_text(value)
        self._known[key] = text
        self._pending.append((_META, (key, text)))

    def _array(self, arm: int, name: str, step: int, array: np.ndarray) -> None:
        whole = np.ascontiguousarray(array)
        whole = whole.astype(whole.dtype.newbyteorder("<"), copy=False)
        row = (arm, name, int(step), whole.dtype.str, json.dumps(array.shape), whole.tobytes())
        self._pending.append((_SNAPSHOT, row))


def _is_empty(path: Path) -> bool:
    return not path.exists() or path.stat().st_size == 0
