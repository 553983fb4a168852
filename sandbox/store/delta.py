"""Delta: what a run has recorded since a reader last looked, late readings included."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64

from sandbox.store import rows
from sandbox.store.late import late_readings
from sandbox.store.schema import ALL

GroupCurve = tuple[Int64[np.ndarray, " n"], Float64[np.ndarray, "n seed"]]


@dataclass(frozen=True)
class Event:
    """Something that happened; `arm` or `seed` is None where it concerns every one."""

    id: int
    step: int
    kind: str
    detail: str
    arm: str | None
    seed: int | None


@dataclass(frozen=True)
class Delta:
    """What was recorded after the step `since`, up to and with `step`."""

    since: int
    step: int
    scalars: dict[tuple[str, str], GroupCurve]
    """(arm, curve name) -> steps and values; without names that have no new rows, and a parent's past."""
    readings: dict[tuple[str, str], np.ndarray]
    """(arm, diagnostic kind) -> the new steps at which it was read; late ones may lie before `since`."""
    events: tuple[Event, ...]
    status: dict[str, Any]
    late: int = 0
    """Number of the last late reading that this takes into account."""


def delta(
    db: sqlite3.Connection, arms: Sequence[str], seeds: Sequence[int], after: int | Delta, up_to: int
) -> Delta:
    """What the database holds beyond the step or Delta `after`, up to and with the step `up_to`."""
    step, told = (after.step, after.late) if isinstance(after, Delta) else (after, 0)
    late = late_readings(db, told, -1 if isinstance(after, Delta) else step)
    scalars, readings = {}, {}
    for index, arm in enumerate(arms):
        own = [name for name in rows.names(db, "scalars", index) if not name.startswith(rows.BEFORE)]
        for name in own:
            curve = rows.scalars(db, index, name, len(seeds), step, up_to)
            if len(curve[0]):
                scalars[arm, name] = curve
        read = [name for name in rows.names(db, "snapshots", index) if not name.startswith(rows.BEFORE)]
        found = {name.partition("/")[0] for name in read if "/" in name}
        for kind in sorted(found):
            steps = rows.snapshot_steps(db, index, f"{kind}/", step, up_to)
            came = {one.step for one in late if kind in one.kinds and one.step <= min(step, up_to)}
            steps = np.union1d(steps, [s for s in came if _read_at(db, index, kind, s)]).astype(np.int64)
            if len(steps):
                readings[arm, kind] = steps
    happened = tuple(event_of(row, arms) for row in rows.events(db, 0, step, up_to))
    at = [steps for steps, _ in scalars.values()] + list(readings.values())
    last = max([step, *(int(steps[-1]) for steps in at)])
    newest = max([told, *(one.id for one in late)])
    return Delta(step, last, scalars, readings, happened, rows.meta(db, "status") or {}, newest)


def _read_at(db: sqlite3.Connection, arm: int, kind: str, step: int) -> bool:
    """Whether `arm` has a reading of `kind` at exactly `step`."""
    return len(rows.snapshot_steps(db, arm, f"{kind}/", step - 1, step)) > 0


def event_of(row: Sequence[Any], arms: Sequence[str]) -> Event:
    """A row of the table of events, in the words of its run."""
    id_, step, arm, seed, kind, detail = row
    return Event(id_, step, kind, detail, None if arm == ALL else arms[arm], None if seed == ALL else seed)
