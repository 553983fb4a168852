"""Checking a run's folder: every file is read to its end, and what is damaged is said by name."""

import json
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from sandbox.foundations.errors import RunUnavailable
from sandbox.store.checkpoint import START, checkpoint_files, read_checkpoint
from sandbox.store.described import LAYOUT, faults_of, numbers_of, reading_in
from sandbox.store.folder import DATABASE, EXPERIMENT, read_experiment, same_plain
from sandbox.store.labels import LABELS, read_labels
from sandbox.store.late import late_readings
from sandbox.store.plain_shapes import LAST_STEP, is_whole
from sandbox.store.read_only import ReadOnlyDatabase
from sandbox.store.schema import ALL, WEIGHTS, require_ours, require_schema

MOST_FINDINGS = 50
"""Of one file; the rest is counted."""
KINDS, MOST_AXES, MOST_ON_AXIS = "fiub", 6, 2**31
"""Arrays that a run stores: NumPy's kinds of number (float, whole, truth), and their axes at most."""
HALF = re.compile(r".+\.part")
_META = "SELECT key, value FROM meta ORDER BY key"
_SCALARS = "SELECT arm, name, step, length(data) FROM scalars ORDER BY arm, name, step"
_WORDS = "SELECT arm, name, step, data FROM snapshots WHERE dtype = 'json' ORDER BY arm, name, step"
_SNAPSHOTS = "SELECT arm, name, step, dtype, shape, length(data) FROM snapshots ORDER BY arm, name, step"
_EVENTS = "SELECT id, step, arm, seed FROM events ORDER BY id"
_INTACT = "PRAGMA integrity_check(20)"
_MISTYPED = {
    "scalars": "SELECT sum(typeof(arm) != 'integer') AS arm, sum(typeof(name) != 'text') AS name, "
    "sum(typeof(step) != 'integer') AS step, sum(typeof(data) != 'blob') AS data FROM scalars",
    "snapshots": "SELECT sum(typeof(arm) != 'integer') AS arm, sum(typeof(name) != 'text') AS name, "
    "sum(typeof(step) != 'integer') AS step, sum(typeof(dtype) != 'text') AS dtype, "
    "sum(typeof(shape) != 'text') AS shape, sum(typeof(data) != 'blob') AS data FROM snapshots",
    "events": "SELECT sum(typeof(step) != 'integer') AS step, sum(typeof(arm) != 'integer') AS arm, "
    "sum(typeof(seed) != 'integer') AS seed, sum(typeof(kind) != 'text') AS kind, "
    "sum(typeof(detail) != 'text') AS detail FROM events",
}
"""SQLite itself takes a value of any type in any column."""


@dataclass
class Checked:
    """What a look at a whole folder found."""

    folder: Path
    damage: list[tuple[str, str]] = field(default_factory=list)
    """(file, sentence) of everything that is not as a run writes it."""
    notes: list[tuple[str, str]] = field(default_factory=list)
    """(file, sentence) of what is worth knowing and does no harm."""
    counts: dict[str, int] = field(default_factory=dict)
    """What was read: scalars, snapshots, events, checkpoints."""

    @property
    def sound(self) -> bool:
        """Whether nothing is damaged."""
        return not self.damage

    def add(self, file: str, faults: Iterator[str]) -> None:
        """Take up the faults of one file, at most MOST_FINDINGS of them in words."""
        found = list(faults)
        self.damage += [(file, fault) for fault in found[:MOST_FINDINGS]]
        if len(found) > MOST_FINDINGS:
            self.damage.append((file, f"and {len(found) - MOST_FINDINGS} faults more"))


def check_folder(folder: Path) -> Checked:
    """Read every file of the run in `folder`, changing nothing; RunUnavailable where there is no folder."""
    if not folder.is_dir():
        raise RunUnavailable(f"There is no run folder {folder}; `list` prints those that exist.")
    checked = Checked(folder)
    plain: dict[str, Any] | None = None
    try:
        plain = read_experiment(folder)
    except RunUnavailable as fault:
        checked.damage.append((EXPERIMENT, str(fault)))
    _check_database(checked, plain)
    try:
        read_labels(folder)
    except RunUnavailable as fault:
        checked.damage.append((LABELS, str(fault)))
    checkpoints = checkpoint_files(folder)
    start = folder / START
    for path in [*([start] if start.exists() else []), *(path for _, path in checkpoints)]:
        try:
            read_checkpoint(path)
        except RunUnavailable as fault:
            checked.damage.append((path.name, str(fault)))
    checked.counts["checkpoints"] = len(checkpoints)
    if not checkpoints:
        checked.notes.append(("checkpoint-*.safetensors", "none: the run can be read, but not trained on"))
    for path in sorted(folder.iterdir()):
        if HALF.fullmatch(path.name):
            checked.notes.append((path.name, "left over from a write that was cut short; it is not used"))
    return checked


def _check_database(checked: Checked, plain: dict[str, Any] | None) -> None:
    path = checked.folder / DATABASE
    if not path.is_file():
        checked.damage.append(
            (DATABASE, f"{path} is missing; nothing was recorded, or the copy is incomplete.")
        )
        return
    database = ReadOnlyDatabase(path)

    def ask(db: sqlite3.Connection) -> list[tuple[str, list[str]]]:
        require_ours(db, path)
        intact = [str(row[0]) for row in db.execute(_INTACT)]
        if intact != ["ok"]:
            return [("", [f"{path} is damaged: {'; '.join(intact)[:500]}; restore it from a copy."])]
        meta = dict(db.execute(_META))
        faults = list(_meta_faults(meta, plain, path))
        if mistyped := [(table, found) for table in _MISTYPED if (found := _mistyped(db, table))]:
            return [("", faults), *mistyped]
        n_arms, n_seeds = (_count(meta, key) for key in ("arms", "seeds"))
        return [
            ("", faults),
            ("scalars", list(_scalar_faults(db, n_arms, n_seeds, checked.counts))),
            ("snapshots", list(_snapshot_faults(db, n_arms, n_seeds, _numbers(meta), checked.counts))),
            ("events", list(_event_faults(db, n_arms, checked.counts))),
            ("late", list(_late_faults(db))),
        ]

    try:
        for table, faults in database.read(ask):
            checked.add(f"{DATABASE}{f', table {table}' if table else ''}", iter(faults))
    except RunUnavailable as unusable:
        checked.damage.append((DATABASE, str(unusable)))
    finally:
        database.close()


def _mistyped(db: sqlite3.Connection, table: str) -> list[str]:
    """Columns of `table` with values of a type that a run does not write there."""
    asked = db.execute(_MISTYPED[table])
    columns = [column for column, *_ in asked.description]
    return [
        f"{n} values of {column} are not of its type"
        for column, n in zip(columns, asked.fetchone(), strict=True)
        if n
    ]


def _meta_faults(meta: dict[str, str], plain: dict[str, Any] | None, path: Path) -> Iterator[str]:
    values = {}
    for key, text in meta.items():
        try:
            values[key] = json.loads(text)
        except (ValueError, RecursionError, TypeError):
            yield f"what is recorded as {key!r} is no JSON"
    try:
        require_schema(values.get("schema"), path)
    except RunUnavailable as fault:
        yield str(fault)
    yield from faults_of(values, _count(meta, "arms"))
    if plain is not None and not same_plain(values.get("experiment"), plain):
        yield f"it records another experiment than {EXPERIMENT} beside it"
    for key in ("arms", "seeds"):
        if plain is not None and key in meta and _count(meta, key) != len(plain[key]):
            yield f"its list of {key} is not that of {EXPERIMENT}"


def _count(meta: dict[str, str], key: str) -> int:
    try:
        found = json.loads(meta.get(key, "[]"))
    except (ValueError, TypeError, RecursionError):
        return 0
    return len(found) if isinstance(found, list) else 0


def _late_faults(db: sqlite3.Connection) -> Iterator[str]:
    try:
        late_readings(db)
    except sqlite3.DatabaseError as fault:
        yield str(fault)


def _scalar_faults(
    db: sqlite3.Connection, n_arms: int, n_seeds: int, counts: dict[str, int]
) -> Iterator[str]:
    counts["scalars"] = 0
    for arm, name, step, length in db.execute(_SCALARS):
        counts["scalars"] += 1
        if fault := _place_fault(step, arm, n_arms):
            yield f"{name} {fault}"
        elif length != 8 * n_seeds:
            yield f"{name} at step {step} holds {length} bytes, not {8 * n_seeds} for {n_seeds} seeds"


def _place_fault(step: int, arm: int, n_arms: int, least: int = 0) -> str:
    """Why nothing of a run stands at this step and arm, in a clause; empty where something may."""
    if not least <= arm < n_arms:
        return f"at step {step} is of arm {arm}, and there are {n_arms}"
    return "" if 0 <= step <= LAST_STEP else f"is at step {step}, which is none of a run"


def _numbers(meta: dict[str, str]) -> dict[int, int]:
    """How many numbers a row of weights has, by arm, as far as the run says so."""
    found = {}
    for key, text in meta.items():
        arm = key.removeprefix(LAYOUT)
        if key.startswith(LAYOUT) and arm.isdecimal() and len(arm) < 10:
            try:
                found[int(arm)] = numbers_of(json.loads(text))
            except (ValueError, RecursionError, TypeError):
                continue  # told already
    return found


def _snapshot_faults(
    db: sqlite3.Connection, n_arms: int, n_seeds: int, numbers: dict[int, int], counts: dict[str, int]
) -> Iterator[str]:
    counts["snapshots"] = 0
    for arm, name, step, dtype, shape, length in db.execute(_SNAPSHOTS):
        counts["snapshots"] += 1
        if fault := _place_fault(step, arm, n_arms):
            yield f"{name} {fault}"
        elif dtype == "json":
            if not name.endswith("/"):
                yield f"{name} at step {step} is no array"
        elif fault := _array_fault(name, dtype, shape, length, n_seeds, numbers.get(arm, 0)):
            yield f"{name} at step {step}: {fault}"
    for _, name, step, words in db.execute(_WORDS):
        if reading_in(words) is None:
            yield f"{name} at step {step}: its words are not those of a reading"


def _array_fault(name: str, dtype: str, shape: str, length: int, n_seeds: int, numbers: int) -> str:
    try:
        sizes, kind = json.loads(shape), np.dtype(dtype)
        sound = all(is_whole(size) and 0 <= size < MOST_ON_AXIS for size in sizes) and kind.kind in KINDS
    except (ValueError, TypeError, SyntaxError, RecursionError):
        sound = False
    if not sound or not isinstance(sizes, list) or len(sizes) > MOST_AXES:
        return f"{dtype[:40]} {shape[:40]} is no array"
    needed = kind.itemsize * prod(sizes)
    if needed != length:
        return f"{length} bytes, not {needed} for {dtype} {shape}"
    if name == WEIGHTS and len(sizes) != 2:
        return f"{shape} is not one row of weights per seed"
    if name == WEIGHTS and sizes[1] < numbers:
        return f"{shape} holds less than the {numbers} numbers that its layout names"
    return "" if not sizes or sizes[0] == n_seeds else f"{sizes[0]} rows for {n_seeds} seeds"


def _event_faults(db: sqlite3.Connection, n_arms: int, counts: dict[str, int]) -> Iterator[str]:
    counts["events"] = 0
    for id_, step, arm, _ in db.execute(_EVENTS):
        counts["events"] += 1
        if fault := _place_fault(step, arm, n_arms, ALL):
            yield f"event {id_} {fault}"
