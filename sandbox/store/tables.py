"""A run's numbers as tables in long form: one row per number, columns as arrays of one length."""

from collections.abc import Iterator

import numpy as np

from sandbox.foundations.certificate import STATES
from sandbox.store.run_reader import Run
from sandbox.store.staleness import stale_since

Table = dict[str, np.ndarray]

_AXES = {
    "PerHead": ("layer", "head"),
    "Trajectory": ("point", "axis"),
    "AttentionMap": ("layer", "head", "query", "key"),
    "Certificate": ("certificate", "layer", "head"),
}
"""What the axes after the seed are called, by a reading's type."""

_WORDS = ("state", "reason")
"""Columns of a certificate that hold places in a list of words; as words they need no list."""


def scalar_table(run: Run) -> Table:
    """Every scalar: arm, seed, step, name, value; NaN and Inf are kept."""
    return _joined(list(_curves(run)), ("arm", "seed", "step", "name", "value"))


def reading_tables(run: Run) -> Iterator[tuple[str, Table]]:
    """(title, table) of every reading's column: arm, seed, step, one column per axis, value, unit."""
    kinds = dict.fromkeys(kind for arm in run.arms for kind in run.reading_kinds(arm))
    for kind in kinds:
        columns = dict.fromkeys(c for arm in run.arms for c in run.reading_columns(kind, arm))
        for column in columns:
            parts = [part for arm in run.arms if (part := _column(run, kind, column, arm)) is not None]
            if parts:
                yield f"{kind} {column}", _joined(parts, tuple(parts[0]))


def event_table(run: Run) -> Table:
    """Every event: step, arm, seed (empty where it concerns all), kind, detail."""
    found = run.events()
    return {
        "step": np.array([e.step for e in found], dtype=np.int64),
        "arm": np.array([e.arm or "" for e in found], dtype=object),
        "seed": np.array(["" if e.seed is None else str(e.seed) for e in found], dtype=object),
        "kind": np.array([e.kind for e in found], dtype=object),
        "detail": np.array([e.detail for e in found], dtype=object),
    }


def _curves(run: Run) -> Iterator[Table]:
    for arm in run.arms:
        for name in run.scalar_names(arm):
            steps, values = run.group_curve(name, arm)
            yield {
                "arm": np.full(values.size, arm, dtype=object),
                "seed": np.repeat(np.array(run.seeds, dtype=np.int64), len(steps)),
                "step": np.tile(steps, len(run.seeds)),
                "name": np.full(values.size, name, dtype=object),
                "value": values.T.ravel(),
            }


def _column(run: Run, kind: str, column: str, arm: str) -> Table | None:
    steps, values = run.reading_column(kind, column, arm)
    if not len(steps):
        return None
    meta = run.meta(f"reading/{run.arms.index(arm)}/{kind}") or {}
    known = _AXES.get(meta.get("type", ""), ())
    n_axes = values.ndim - 2
    axes = known if len(known) == n_axes else tuple(f"index_{i}" for i in range(n_axes))
    places = np.indices(values.shape, dtype=np.int32).reshape(values.ndim, -1)
    table: Table = {
        "arm": np.full(values.size, arm, dtype=object),
        "seed": np.array(run.seeds, dtype=np.int64)[places[1]],
        "step": steps[places[0]],
    }
    table |= dict(zip(axes, places[2:], strict=True))
    table["value"] = values.ravel()
    if meta.get("type") == "Certificate":
        table["certificate"] = np.array(meta["names"], dtype=object)[table["certificate"]]
        if column in _WORDS:
            table["value"] = _words(run, kind, column, arm, steps, values)
            return table
    unit = meta.get("units", {}).get(column, meta.get("unit"))
    # What is measured, such as theta or 1 - theta: a column's name alone does not say it.
    return table | {"unit": np.full(values.size, unit, dtype=object)} if unit else table


def _words(run: Run, kind: str, column: str, arm: str, steps: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The states or reasons of certificates as they stand now, in words; no reason is an empty one."""
    changes = run.meta("changes")
    found = []
    for step, stored in zip(steps.tolist(), values, strict=True):
        stale = stale_since(changes, arm, step)
        if stale is not None:
            words, places = (["stale" if column == "state" else stale], np.zeros(stored.size, np.int64))
        else:
            meta = run.reading_meta(kind, step, arm)
            words, places = [*(STATES if column == "state" else meta["reasons"]), ""], stored.ravel()
        found += [words[int(place)] for place in places]
    return np.array(found, dtype=object)


def _joined(parts: list[Table], columns: tuple[str, ...]) -> Table:
    if not parts:
        return {column: np.zeros(0) for column in columns}
    return {column: np.concatenate([part[column] for part in parts]) for column in columns}
