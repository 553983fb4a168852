"""Ghost: a parent's curves in the run that goes on from it, copied so that they outlive the parent."""

from typing import Any

import numpy as np
from jaxtyping import Float64, Int64

from sandbox.store import Run, RunWriter
from sandbox.store.forks import begun_at
from sandbox.store.rows import BEFORE

PARENT = "parent"
"""Key of the run's description that tells of its parent."""

CURVES = ("loss", "train_loss", "train_accuracy", "test_loss", "test_accuracy")
GROUPS = "test_accuracy/"
"""What the names of accuracies by group of rows begin with."""
MOST_ROWS, MOST_BYTES = 10_000, 16 * 2**20
"""Rows of one curve, and bytes of all, that are copied; a longer history is copied at every k-th step."""
READING_BYTES = 8 * 2**20
"""Bytes of readings per head that are copied, of all kinds together."""
OVER_STEPS = "PerHead"
"""Type of the readings that are drawn as curves."""

CLOSE = 2000
"""Steps after the fork of which every one is copied: there the two part."""

Rows = tuple[Int64[np.ndarray, " n"], Float64[np.ndarray, "n seed"]]


def history(run: Run, arm: str, name: str) -> Rows:
    """A curve of `run` from step 0 on: its own rows after those of the runs that it goes on from."""
    begin = begun_at(run.experiment)
    steps, values = run.group_curve(name, arm)
    before, earlier = run.group_curve(BEFORE + name, arm)
    kept = before <= begin if begin else np.zeros(len(before), np.bool_)
    fresh = ~np.isin(steps, before[kept])
    return np.concatenate([before[kept], steps[fresh]]), np.concatenate([earlier[kept], values[fresh]])


def copy_ghost(parent: Run, writer: RunWriter, step: int) -> dict[str, Any]:
    """Copy the parent's curves into `writer`'s run; what was copied: `last`, `every`, `mean`, `readings`.

    Where the seeds are not the parent's, each seed gets the mean over the parent's: `mean` is then how many.
    `readings` are the columns "kind/column" of readings per head that came along.
    """
    own = all(seed in parent.seeds for seed in writer.seeds)
    columns = [parent.seeds.index(seed) for seed in writer.seeds] if own else []
    names = [*CURVES, *(name for name in parent.scalar_names() if name.startswith(GROUPS))]
    most = min(MOST_ROWS, MOST_BYTES // (len(names) * len(writer.arms) * len(writer.seeds) * 8))
    last, every = 0, 1
    for arm in writer.arms:
        for name in names:
            steps, values = history(parent, arm, name)
            kept, stride = thinned(steps, step, max(most, CLOSE // 4))
            rows = values[kept][:, columns] if own else _mean(values[kept], len(writer.seeds), 1)
            writer.scalars(arm, BEFORE + name, steps[kept].tolist(), rows)
            last, every = max(last, int(steps[-1]) if len(steps) else 0), max(every, stride)
    readings = _copy_readings(parent, writer, columns)
    return {"last": last, "every": every, "mean": 0 if own else len(parent.seeds), "readings": readings}


def _copy_readings(parent: Run, writer: RunWriter, columns: list[int]) -> list[str]:
    """Copy what the parent read per head; the names of the columns that came along."""
    found = {
        (arm, f"{kind}/{column}"): reading_history(parent, arm, kind, column)
        for arm in writer.arms
        for kind in parent.reading_kinds(arm)
        if (parent.meta(f"reading/{parent.arms.index(arm)}/{kind}") or {}).get("type") == OVER_STEPS
        for column in parent.reading_columns(kind, arm)
    }
    found = {key: history for key, history in found.items() if len(history[0])}
    share = len(writer.seeds) / len(parent.seeds)
    size = share * sum(values.nbytes for _, values in found.values())
    stride = max(1, -(-int(size) // READING_BYTES))
    for (arm, name), (steps, values) in found.items():
        places = np.arange(len(steps))
        for place in places[(places % stride == 0) | (places == len(steps) - 1)]:
            here = values[place][columns] if columns else _mean(values[place], len(writer.seeds), 0)
            writer.past(int(steps[place]), arm, name, here)
    return sorted({name for _, name in found})


def reading_history(run: Run, arm: str, kind: str, column: str) -> tuple[np.ndarray, np.ndarray]:
    """(steps (n,), values (n, seed, layer, head)) of a column from step 0 on, as `history` has a curve's."""
    begin = begun_at(run.experiment)
    steps, values = run.reading_column(kind, column, arm)
    before, earlier = run.reading_column(BEFORE + kind, column, arm)
    kept = before <= begin if begin else np.zeros(len(before), np.bool_)
    kept &= ~np.isin(before, steps)
    if not kept.any() or (len(steps) and earlier.shape[1:] != values.shape[1:]):
        return steps, values
    if not len(steps):
        return before[kept], earlier[kept]
    return np.concatenate([before[kept], steps]), np.concatenate([earlier[kept], values])


def thinned(steps: Int64[np.ndarray, " n"], near: int, most: int) -> tuple[Int64[np.ndarray, " k"], int]:
    """Places of the rows to keep, and the stride k of those that are not among the CLOSE after `near`."""
    stride = -(-len(steps) // most) if len(steps) > most else 1
    places = np.arange(len(steps))
    close = (steps >= near) & (steps <= near + min(CLOSE, most))
    return places[(places % stride == 0) | close | (places == len(steps) - 1)], stride


def _mean(values: np.ndarray, n: int, axis: int) -> np.ndarray:
    """The mean over an axis, what is not finite left out, `n` times along it."""
    known = np.isfinite(values)
    count = known.sum(axis=axis)
    total = np.where(known, values, 0.0).sum(axis=axis)
    mean = np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)
    return np.repeat(np.expand_dims(mean, axis), n, axis=axis).astype(values.dtype)
