"""Ghost: a parent's curves in the run that goes on from it, copied so that they outlive the parent."""

from typing import Any

import numpy as np
from jaxtyping import Float64, Int64

from sandbox.runner.fork_plan import begun_at
from sandbox.store import Run, RunWriter

PARENT = "parent"
"""Key of the run's description that tells of its parent."""

BEFORE = "parent/"
"""What the name of a parent's curve begins with."""

CURVES = ("loss", "train_loss", "train_accuracy", "test_loss", "test_accuracy")
MOST_ROWS, MOST_BYTES = 10_000, 16 * 2**20
"""Rows of one curve, and bytes of all, that are copied; a longer history is copied at every k-th step."""

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
    """Copy the parent's curves into `writer`'s run, and tell what was copied: `last`, `every`, `mean`.

    Where the seeds are not the parent's, each seed gets the mean over the parent's: `mean` is then how many.
    """
    own = all(seed in parent.seeds for seed in writer.seeds)
    columns = [parent.seeds.index(seed) for seed in writer.seeds] if own else []
    most = min(MOST_ROWS, MOST_BYTES // (len(CURVES) * len(writer.arms) * len(writer.seeds) * 8))
    last, every = 0, 1
    for arm in writer.arms:
        for name in CURVES:
            steps, values = history(parent, arm, name)
            kept, stride = thinned(steps, step, max(most, CLOSE // 4))
            rows = values[kept][:, columns] if own else _mean(values[kept], len(writer.seeds))
            writer.scalars(arm, BEFORE + name, steps[kept].tolist(), rows)
            last, every = max(last, int(steps[-1]) if len(steps) else 0), max(every, stride)
    return {"last": last, "every": every, "mean": 0 if own else len(parent.seeds)}


def thinned(steps: Int64[np.ndarray, " n"], near: int, most: int) -> tuple[Int64[np.ndarray, " k"], int]:
    """Places of the rows to keep, and the stride k of those that are not among the CLOSE after `near`."""
    stride = -(-len(steps) // most) if len(steps) > most else 1
    places = np.arange(len(steps))
    close = (steps >= near) & (steps <= near + min(CLOSE, most))
    return places[(places % stride == 0) | close | (places == len(steps) - 1)], stride


def _mean(values: Float64[np.ndarray, "n seed"], n_columns: int) -> Float64[np.ndarray, "n column"]:
    known = np.isfinite(values)
    count = known.sum(axis=1)
    total = np.where(known, values, 0.0).sum(axis=1)
    mean = np.divide(total, count, out=np.full(len(values), np.nan), where=count > 0)
    return np.repeat(mean[:, None], n_columns, axis=1)
