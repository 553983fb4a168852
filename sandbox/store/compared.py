"""Compared: one arm's curve of every seed on an axis that several runs share, and paired differences."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from sandbox.foundations.errors import InvalidData
from sandbox.mathematics.smoothing import moving_mean
from sandbox.store.forks import begun_at
from sandbox.store.lost_seeds import lost_at
from sandbox.store.rows import BEFORE
from sandbox.store.run_reader import Run

Axis = Literal["step", "examples", "seconds", "event"]
AXES: tuple[Axis, ...] = ("step", "examples", "seconds", "event")
TARGET_REACHED = "target reached"
"""The event that every run with evaluations has: the first at which a seed's accuracy is at its target."""


@dataclass(frozen=True, eq=False)
class Compared:
    """A group: one arm of one run with all its seeds."""

    label: str
    run_id: str
    arm: str
    seeds: tuple[int, ...]
    x: Float[np.ndarray, " n"]
    """Ascending, in the unit of the axis."""
    values: Float[np.ndarray, "n seed"]
    place: int = 0
    """Which style of the palette it has."""
    left_out: int = 0
    """Seeds that cannot stand on this axis, because the event never came to them."""
    batch_size: int = 0
    axis: Axis = "step"

    def smoothed(self, reach: int) -> "Compared":
        """Each seed smoothed by itself over `reach` points to either side."""
        columns = [moving_mean(column, reach) for column in self.values.T]
        return replace(self, values=np.stack(columns, axis=1) if columns else self.values)


@dataclass(frozen=True, eq=False)
class Difference:
    """A group less the reference, seed by seed, at the places where both were recorded and at no other."""

    label: str
    reference: str
    seeds: tuple[int, ...]
    x: Float[np.ndarray, " n"]
    values: Float[np.ndarray, "n seed"]
    place: int
    apart: int
    """Places that one of the two has within the range of both, and the other has not."""


def metrics(run: Run, arm: str) -> list[str]:
    """What can be compared: every curve, and every column of a reading per head as `diagnostic/column`."""
    found = [name for name in run.scalar_names(arm) if not name.startswith(BEFORE)]
    for kind in run.reading_kinds(arm):
        if (run.meta(f"reading/{run.arms.index(arm)}/{kind}") or {}).get("type") == "PerHead":
            found += [f"{kind}/{column}" for column in run.reading_columns(kind, arm)]
    return found


def maps(run: Run, arm: str) -> list[str]:
    """The kinds of reading that are attention maps."""
    metas = {kind: run.meta(f"reading/{run.arms.index(arm)}/{kind}") or {} for kind in run.reading_kinds(arm)}
    return [kind for kind, meta in metas.items() if meta.get("type") == "AttentionMap"]


def events(run: Run, arm: str) -> list[str]:
    """The events that a group can be aligned by."""
    known = {event.kind for event in run.events() if event.arm in (arm, None)}
    return [TARGET_REACHED, *sorted(known - {TARGET_REACHED})]


def group(
    run: Run,
    arm: str,
    metric: str,
    axis: Axis = "step",
    event: str = TARGET_REACHED,
    label: str = "",
    place: int = 0,
) -> Compared:
    """The curve `metric` of every seed of `arm` on `axis`; readings as the median over layers and heads.

    A seed has no value from where its loss is none, as in the table of a run. Seconds are the arm's mean
    time per step times the step. With an event, 0 is the last recorded step up to it, for each seed by
    itself; seeds without it are left out. Empty where nothing was recorded.
    """
    steps, values = _recorded(run, arm, metric)
    values = np.where(steps[:, None] >= lost_at(run, arm)[None], np.nan, values)
    plain = run.experiment
    made = Compared(
        label or arm,
        run.id,
        arm,
        run.seeds,
        steps.astype(np.float64),
        values,
        place,
        0,
        int(plain.get("batch_size", 0)),
        axis,
    )
    if axis == "examples":
        if made.batch_size < 1:
            raise InvalidData(f"Run {run.id} does not say its batch size; align by steps.")
        return replace(made, x=made.x * made.batch_size)
    if axis == "seconds":
        own = np.maximum(made.x - begun_at(plain), 0.0)
        return replace(made, x=own * seconds_per_step(run, arm))
    return _aligned(made, event_steps(run, arm, event)) if axis == "event" else made


def seconds_per_step(run: Run, arm: str) -> float:
    """The arm's mean time per step, all its seeds together; InvalidData where the run did not measure it.

    The clock of a run that goes on from another begins with it.
    """
    status = run.status
    steps = int(status["step"]) - begun_at(run.experiment)
    spent = (status.get("arm_seconds") or {}).get(arm)
    if spent is None and len(run.arms) == 1:
        spent = status["seconds"]
    if spent is None or steps < 1:
        raise InvalidData(f"Run {run.id} has not measured the time of arm {arm[:60]!r}; align by steps.")
    return float(spent) / steps


def event_steps(run: Run, arm: str, event: str) -> Float[np.ndarray, " seed"]:
    """The step of the first such event of each seed; NaN where it never came."""
    first = np.full(len(run.seeds), np.nan)
    if event == TARGET_REACHED:
        target = float((run.meta("target") or {}).get("value", 1.0))
        steps, accuracy = run.group_curve("test_accuracy", arm)
        for column, values in enumerate(accuracy.T):
            reached = np.flatnonzero(values >= target)
            if len(reached):
                first[column] = steps[reached[0]]
        return first
    for found in run.events():
        if found.kind == event and found.arm in (arm, None):
            for column, seed in enumerate(run.seeds):
                if found.seed in (seed, None) and np.isnan(first[column]):
                    first[column] = found.step
    return first


def difference(of: Compared, reference: Compared) -> Difference:
    """`of` less `reference` over the seeds that both have, at the places where both were recorded.

    Nothing is interpolated or carried forward: a pair is of one place. By seconds there is no such place but
    the start, because arms differ in their pace; the difference is then empty.
    """
    seeds = tuple(seed for seed in of.seeds if seed in reference.seeds)
    mine, theirs = ([side.seeds.index(seed) for seed in seeds] for side in (of, reference))
    x = np.intersect1d(of.x, reference.x)
    if "seconds" in (of.axis, reference.axis):
        x = x[:0]
    own, others = (
        side.values[np.searchsorted(side.x, x)][:, columns].reshape(len(x), len(seeds))
        for side, columns in ((of, mine), (reference, theirs))
    )
    return Difference(of.label, reference.label, seeds, x, own - others, of.place, _apart(of, reference, x))


def _apart(of: Compared, reference: Compared, shared: np.ndarray) -> int:
    if not len(of.x) or not len(reference.x):
        return 0
    first, last = max(of.x[0], reference.x[0]), min(of.x[-1], reference.x[-1])
    either = np.union1d(of.x, reference.x)
    return int(((either >= first) & (either <= last)).sum()) - len(shared)


def at_place(of: Compared, x: float) -> tuple[float, Float[np.ndarray, " seed"]]:
    """The last place at or before `x` with the values of every seed there; NaN before the first."""
    at = int(np.searchsorted(of.x, x, side="right")) - 1
    return (float(of.x[at]), of.values[at].copy()) if at >= 0 else (np.nan, np.full(len(of.seeds), np.nan))


def last_common(groups: Sequence[Compared]) -> float:
    """The last place that every group has reached; NaN where one has nothing."""
    ends = [float(group.x[-1]) if len(group.x) else np.nan for group in groups]
    return min(ends) if ends and not any(map(np.isnan, ends)) else float("nan")


def _recorded(run: Run, arm: str, metric: str) -> tuple[Any, Any]:
    kind, slash, column = metric.partition("/")
    if slash and kind in run.reading_kinds(arm):
        steps, values = run.reading_column(kind, column, arm)
        if not len(steps):
            return steps, np.zeros((0, len(run.seeds)))
        flat = np.asarray(values, dtype=np.float64).reshape(len(steps), len(run.seeds), -1)
        return steps, np.median(flat, axis=2)  # NaN of one head is NaN of all: nothing is left out in silence
    return run.group_curve(metric, arm)


def _aligned(of: Compared, at: np.ndarray) -> Compared:
    """Every seed shifted by itself; its places are those of all seeds, NaN where it has none."""
    kept = [column for column, step in enumerate(at) if np.isfinite(step) and len(of.x) and of.x[0] <= step]
    zero = {c: of.x[np.searchsorted(of.x, at[c], side="right") - 1] for c in kept}
    places = np.unique(np.concatenate([np.zeros(0), *(of.x - zero[c] for c in kept)]))
    values = np.full((len(places), len(of.seeds)), np.nan)
    for column in kept:
        values[np.searchsorted(places, of.x - zero[column]), column] = of.values[:, column]
    return replace(of, x=places, values=values, left_out=len(of.seeds) - len(kept))
