"""Compared: one arm's curve of every seed on an axis that several runs share, and paired differences."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from sandbox.foundations.errors import InvalidData
from sandbox.mathematics.smoothing import moving_mean
from sandbox.store.lost_seeds import lost_at
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

    def smoothed(self, reach: int) -> "Compared":
        """Each seed smoothed by itself over `reach` points to either side."""
        columns = [moving_mean(column, reach) for column in self.values.T]
        return replace(self, values=np.stack(columns, axis=1) if columns else self.values)


@dataclass(frozen=True, eq=False)
class Difference:
    """A group less the reference, seed by seed, where both have a value."""

    label: str
    reference: str
    seeds: tuple[int, ...]
    x: Float[np.ndarray, " n"]
    values: Float[np.ndarray, "n seed"]
    place: int
    interpolated: bool
    """Whether the group had no values of its own at the places of the reference."""


def metrics(run: Run, arm: str) -> list[str]:
    """What can be compared: every curve, and every column of a reading per head as `diagnostic/column`."""
    found = run.scalar_names(arm)
    for kind in run.reading_kinds(arm):
        if (run.meta(f"reading/{run.arms.index(arm)}/{kind}") or {}).get("type") == "PerHead":
            found += [f"{kind}/{column}" for column in run.reading_columns(kind, arm)]
    return found


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
    )
    if axis == "examples":
        if made.batch_size < 1:
            raise InvalidData(f"Run {run.id} does not say its batch size; align by steps.")
        return replace(made, x=made.x * made.batch_size)
    if axis == "seconds":
        return replace(made, x=made.x * seconds_per_step(run, arm))
    return _aligned(made, event_steps(run, arm, event)) if axis == "event" else made


def seconds_per_step(run: Run, arm: str) -> float:
    """The arm's mean time per step, all its seeds together; InvalidData where the run did not measure it."""
    status = run.status
    spent = (status.get("arm_seconds") or {}).get(arm)
    if spent is None and len(run.arms) == 1:
        spent = status["seconds"]
    if spent is None or not status["step"]:
        raise InvalidData(f"Run {run.id} has not measured the time of arm {arm[:60]!r}; align by steps.")
    return float(spent) / int(status["step"])


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
    """`of` less `reference` over the seeds that both have, at the reference's places within both ranges.

    Where `of` has no value at such a place it is interpolated linearly between its neighbours.
    """
    seeds = tuple(seed for seed in of.seeds if seed in reference.seeds)
    mine, theirs = ([side.seeds.index(seed) for seed in seeds] for side in (of, reference))
    if not len(of.x) or not len(reference.x):
        empty = np.zeros((0, len(seeds)))
        return Difference(of.label, reference.label, seeds, np.zeros(0), empty, of.place, False)
    inside = (reference.x >= of.x[0]) & (reference.x <= of.x[-1])
    x = reference.x[inside]
    exact = bool(np.isin(x, of.x).all())
    if exact:
        own = of.values[np.searchsorted(of.x, x)][:, mine]
    else:
        own = np.stack([_between(x, of.x, of.values[:, column]) for column in mine], axis=1)
    gap = own - reference.values[inside][:, theirs]
    return Difference(
        of.label, reference.label, seeds, x, gap.reshape(len(x), len(seeds)), of.place, not exact
    )


def at_place(of: Compared, x: float) -> Float[np.ndarray, " seed"]:
    """The last values of every seed at or before `x`; NaN before the first."""
    at = int(np.searchsorted(of.x, x, side="right")) - 1
    return of.values[at].copy() if at >= 0 else np.full(len(of.seeds), np.nan)


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


def _between(x: np.ndarray, places: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Linear interpolation that has no value where a neighbour has none."""
    right = np.clip(np.searchsorted(places, x), 1, max(len(places) - 1, 1))
    if len(places) == 1:
        return np.full(len(x), values[0])
    left = right - 1
    share = (x - places[left]) / (places[right] - places[left])
    with np.errstate(invalid="ignore"):  # what is not finite stays so
        found = values[left] * (1 - share) + values[right] * share
    return np.where(share == 0, values[left], np.where(share == 1, values[right], found))
