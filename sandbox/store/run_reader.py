"""open_run: a run's curves, readings and events from its folder, live or finished, on any machine."""

import sqlite3
from collections.abc import Mapping
from copy import copy
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64

from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.errors import InvalidData, RunUnavailable
from sandbox.foundations.readings import Answer, decode
from sandbox.store import rows
from sandbox.store.delta import Delta, Event, GroupCurve, delta, event_of
from sandbox.store.described import NO_STATUS, READING, VITAL, as_recorded
from sandbox.store.folder import DATABASE, EXPERIMENT, read_experiment, same_plain
from sandbox.store.read_only import ReadOnlyDatabase
from sandbox.store.rows import LAST
from sandbox.store.schema import WEIGHTS, require_ours, require_schema
from sandbox.store.staleness import as_it_stands

Curve = tuple[Int64[np.ndarray, " n"], Float64[np.ndarray, " n"]]


class Run:
    """One run, read-only; safe to share between threads, and sees what a living writer commits."""

    def __init__(self, path: Path) -> None:
        """Use `open_run`."""
        self.path = path.absolute()
        self.id = self.path.name
        self.experiment = read_experiment(self.path)
        self.arms: tuple[str, ...] = tuple(arm["name"] for arm in self.experiment["arms"])
        self.seeds: tuple[int, ...] = tuple(self.experiment["seeds"])
        self._database = ReadOnlyDatabase(self.path / DATABASE)
        try:
            self._database.read(lambda db: require_ours(db, self.path / DATABASE))
            require_schema(self.meta("schema"), self.path / DATABASE)
            for key in VITAL:
                self.meta(key)
            if not same_plain(self.meta("experiment"), self.experiment):
                raise RunUnavailable(
                    f"{self.path / EXPERIMENT} is not the experiment that {DATABASE} beside it records; "
                    "restore both from one copy."
                )
        except BaseException:
            self.close()
            raise

    def with_arms(self, names: Mapping[str, str]) -> "Run":
        """The same run, through the same files, with arms renamed: `names` holds the new name by the old one.

        What the run recorded under its arms' names, such as live changes, keeps the names it has.
        """
        seen = copy(self)
        seen.arms = tuple(names.get(arm, arm) for arm in self.arms)
        arms = [arm | {"name": names.get(arm["name"], arm["name"])} for arm in self.experiment["arms"]]
        seen.experiment = self.experiment | {"arms": arms}
        return seen

    def meta(self, key: str) -> Any:
        """The JSON value recorded under `key`, or None.

        What is not of its kind (`sandbox.store.described`) counts as not recorded, or for a reading as one
        that means nothing; RunUnavailable where the run cannot be understood without it.
        """
        return self._sound(key, self._database.read(lambda db: rows.meta(db, key)))

    def _sound(self, key: str, value: Any) -> Any:
        return as_recorded(key, value, self.path / DATABASE)

    @property
    def status(self) -> dict[str, Any]:
        """{"state", "step", "seconds", "reason"} as last committed by the writer."""
        return dict(self.meta("status") or NO_STATUS)

    @property
    def created(self) -> float:
        """When recording began, in seconds since 1970."""
        return float(self.meta("created") or 0.0)

    @property
    def lines(self) -> dict[str, Any]:
        """Reference lines of the task, such as chance and majority."""
        return self.meta("lines") or {}

    @property
    def notes(self) -> list[str]:
        """Sentences about the data, such as the overlap of its split."""
        return self.meta("notes") or []

    @property
    def task(self) -> dict[str, Any]:
        """token_labels, class_labels and the probe sequences."""
        return self.meta("task") or {}

    def layout(self, arm: str) -> Any:
        """How one row of `arm`'s weights divides into parameters, as recorded."""
        return self.meta(f"layout/{self._arm(arm)}")

    def scalar_names(self, arm: str | None = None) -> list[str]:
        """The names of the curves recorded for `arm`, or for any arm."""
        arms = range(len(self.arms)) if arm is None else [self._arm(arm)]
        return sorted(self._database.read(lambda db: {n for a in arms for n in rows.names(db, "scalars", a)}))

    def curve(self, name: str, arm: str, seed: int, since: int = -1) -> Curve:
        """(steps, values) of one seed after the step `since`; empty where nothing was recorded."""
        column = self._seed(seed)
        steps, values = self.group_curve(name, arm, since)
        return steps, np.ascontiguousarray(values[:, column])

    def group_curve(self, name: str, arm: str, since: int = -1) -> GroupCurve:
        """(steps (n,), values (n, seeds)) of `arm` after the step `since`, one column per seed."""
        index = self._arm(arm)
        return self._database.read(lambda db: rows.scalars(db, index, name, len(self.seeds), since))

    def reading(self, kind: str, step: int, arm: str, seed: int | None = None) -> Answer:
        """The diagnostic's answer at `step`, of every seed or of `seed` alone (run axis kept).

        NotApplicable where the question means nothing for `arm`; InvalidData where nothing was
        read at that step, naming the nearest steps that were. A certificate is stale where a live knob
        was changed after it.
        """
        index, prefix = self._arm(arm), f"{kind}/"

        def ask(db: sqlite3.Connection) -> tuple[Any, dict[str, np.ndarray]]:
            found = {
                name.removeprefix(prefix): rows.array(db, index, name, step)
                for name in rows.names(db, "snapshots", index, prefix)
                if name != prefix
            }
            own = rows.snapshot_meta(db, index, prefix, step)
            key = f"{READING}{index}/{kind}"
            meta = self._sound(key, rows.meta(db, key) if own is None else own)
            return meta, {name: array for name, array in found.items() if array is not None}

        meta, columns = self._database.read(ask)
        if meta is None or not (columns or "not_applicable" in meta):
            raise InvalidData(self._not_stored(kind, step, arm, self.reading_steps(kind, arm)))
        answer = decode(columns, meta)
        answer = as_it_stands(answer, self.meta("changes"), self.arms[index], step)
        if seed is None or isinstance(answer, NotApplicable):
            return answer
        return answer.for_run(self._seed(seed))

    def reading_meta(self, kind: str, step: int, arm: str) -> dict[str, Any]:
        """What a reading at `step` says beside its numbers: type, names, units, provenance; {} if nothing."""
        index = self._arm(arm)
        own = self._database.read(lambda db: rows.snapshot_meta(db, index, f"{kind}/", step))
        key = f"{READING}{index}/{kind}"
        return dict(self._sound(key, own) or self.meta(key) or {})

    def reading_kinds(self, arm: str) -> list[str]:
        """The diagnostics recorded for `arm`, those that do not apply included."""
        prefix = f"reading/{self._arm(arm)}/"
        return [k.removeprefix(prefix) for k in self._database.read(lambda db: rows.meta_keys(db, prefix))]

    def reading_columns(self, kind: str, arm: str) -> list[str]:
        """The names of the columns recorded for the diagnostic `kind`."""
        index, prefix = self._arm(arm), f"{kind}/"
        names = self._database.read(lambda db: rows.names(db, "snapshots", index, prefix))
        return [name.removeprefix(prefix) for name in names if name != prefix]

    def reading_steps(self, kind: str, arm: str, since: int = -1) -> Int64[np.ndarray, " n"]:
        """The steps after `since` at which `kind` was read, ascending."""
        index = self._arm(arm)
        return self._database.read(lambda db: rows.snapshot_steps(db, index, f"{kind}/", since))

    def reading_column(
        self, kind: str, column: str, arm: str, since: int = -1
    ) -> tuple[Int64[np.ndarray, " n"], np.ndarray]:
        """(steps (n,), values (n, run, ...)) of one column after the step `since`; values (0,) if none."""
        index = self._arm(arm)
        return self._database.read(lambda db: rows.arrays(db, index, f"{kind}/{column}", since))

    def weights(self, step: int, arm: str) -> np.ndarray:
        """The weights (run, parameter) stored after `step`; InvalidData where none were stored."""
        index = self._arm(arm)
        theta = self._database.read(lambda db: rows.array(db, index, WEIGHTS, step))
        if theta is None:
            raise InvalidData(self._not_stored("weights", step, arm, self.weight_steps(arm)))
        return theta

    def weight_steps(self, arm: str) -> Int64[np.ndarray, " n"]:
        """The steps after which weights were stored, ascending."""
        index = self._arm(arm)
        return self._database.read(lambda db: rows.snapshot_steps(db, index, WEIGHTS))

    def events(self, after: int = 0) -> list[Event]:
        """The events whose id is greater than `after`, in the order of their steps."""
        return self._database.read(lambda db: [event_of(row, self.arms) for row in rows.events(db, after)])

    def since(self, step: int | Delta, up_to: int = LAST) -> Delta:
        """What was recorded after `step` (-1: all), up to `up_to`; costs what is new, not what is stored.

        Readings of an earlier step that came once the run stood at `step` or later are new, too. After a
        Delta in place of a step, each of them is told once.
        """
        return self._database.read(lambda db: delta(db, self.arms, self.seeds, step, up_to))

    def to_pandas(self) -> Any:
        """Every scalar as a pandas.DataFrame in long form: arm, seed, step, name, value; NaN is kept."""
        import pandas

        from sandbox.store.tables import scalar_table

        return pandas.DataFrame(scalar_table(self))

    def copy_database(self, to: Path) -> None:
        """Write run.sqlite as of one moment to the file `to`, which must not exist; the writer goes on."""

        def ask(db: sqlite3.Connection) -> None:
            to.unlink(missing_ok=True)
            db.execute("VACUUM INTO ?", (str(to),))

        self._database.read(ask, transaction=False)

    def close(self) -> None:
        """Let go of the files; the run can still be read, which opens them again."""
        self._database.close()

    def __enter__(self) -> "Run":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def _arm(self, arm: str | int) -> int:
        if isinstance(arm, int) and 0 <= arm < len(self.arms):
            return arm
        if arm not in self.arms:
            raise InvalidData(f"Run {self.id} has no arm {str(arm)[:80]!r}; it has {', '.join(self.arms)}.")
        return self.arms.index(str(arm))

    def _seed(self, seed: int) -> int:
        if seed not in self.seeds:
            raise InvalidData(
                f"Run {self.id} has no seed {seed!r}; there are {', '.join(map(str, self.seeds))}."
            )
        return self.seeds.index(seed)

    def _not_stored(self, what: str, step: int, arm: str, steps: np.ndarray) -> str:
        if not len(steps):
            return f"Run {self.id} stores no {what} for arm {arm!r}; this run was not asked for it."
        at = int(np.searchsorted(steps, step))
        near = " and ".join(str(s) for s in steps[max(0, at - 1) : at + 1])
        return f"Run {self.id} stores no {what} at step {step} for arm {arm!r}; the nearest are at {near}."


def open_run(path: Path | str) -> Run:
    """The run in the folder `path`, read-only.

    Works while the run is written, after its writer was killed, and on a copied folder. Raises
    RunUnavailable, naming the file, where one is missing, damaged, foreign or of a newer version.
    """
    return Run(Path(path))
