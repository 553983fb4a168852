"""What came with a loss spike: the steps around it, trained again beside the run from a kept state."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sandbox.diagnostics import Diagnostic, SnapshotView
from sandbox.diagnostics.probe import Probe
from sandbox.engine.choice import group_for
from sandbox.engine.setting import GroupSetting
from sandbox.engine.torch_engine import TorchGroup
from sandbox.foundations.readings import Answer, PerHead
from sandbox.mathematics.spikes import Spike, clues

KEEP_EVERY = 50
"""Least steps between two states that are kept."""

MOST_STATES, RING_BYTES, MOST_NORMS = 12, 32 * 2**20, 300
BEFORE = 15
"""Steps before a spike in which a clue counts; its usual level is that of the 60 steps before those."""

EARLIER, THIN = 5 * BEFORE, 4
"""How far back the usual level looks, and at every how many of those steps."""

MOST_LOOKS = 32
"""Steps up to the peak of a long spike that are looked at."""

GRADIENT, CURVATURE, SHARPNESS = "gradient norms", "normalization curvature", "sharpness"
CURVES = {
    "gradient norm": (GRADIENT, "gradient: all"),
    "smallest |xi|": (CURVATURE, "smallest"),
    "curvature sqrt(d)/|xi|^2": (CURVATURE, "curvature"),
}
FALLING = ("smallest |xi|",)
State = Mapping[str, np.ndarray]
Curves = Mapping[str, tuple[np.ndarray, np.ndarray]]
"""By name, steps and values of one seed."""


@dataclass(frozen=True, kw_only=True)
class Kept:
    """The groups of a run as they stood after `step`, and the settings under which they went on."""

    step: int
    settings: Sequence[GroupSetting]
    states: Sequence[State]


class RecentNorms:
    """The gradients' norms at the ends of a run's latest turns: all of them where a turn is one step."""

    def __init__(self, groups: Sequence[TorchGroup]) -> None:
        self._groups = groups
        self._ring: deque[tuple[int, list[np.ndarray | None]]] = deque(maxlen=MOST_NORMS)

    def turn(self, step: int) -> None:
        """The groups stand at `step`."""
        self._ring.append((step, [group.norms.get("gradient: all") for group in self._groups]))

    def curves(self, arm: int, seed: int, steps: Sequence[int]) -> Curves | None:
        """As `curves_of`, from the norms alone; None where one of them is not known."""
        known = {step: norms[arm] for step, norms in self._ring}
        values = [known.get(step) for step in steps]
        if any(v is None for v in values):
            return None
        return {"gradient norm": (np.array(steps), np.array([v[seed] for v in values if v is not None]))}


class RecentStates:
    """The latest states of a run's groups, at least KEEP_EVERY steps apart, as far as RING_BYTES reach.

    None on a GPU, where a copy would make the host wait and a forked process cannot train again.
    """

    def __init__(self, groups: Sequence[TorchGroup]) -> None:
        self._groups = groups
        self._ring: deque[Kept] = deque(maxlen=MOST_STATES)

    def turn(self, step: int) -> None:
        """The groups stand at `step`."""
        if self._groups[0].device.type != "cpu" or (self._ring and step < self._ring[-1].step + KEEP_EVERY):
            return
        settings = [group.setting for group in self._groups]
        self._ring.append(Kept(step=step, settings=settings, states=[g.state() for g in self._groups]))
        size = sum(array.nbytes for state in self._ring[-1].states for array in state.values())
        while len(self._ring) > 1 and size * len(self._ring) > RING_BYTES:
            self._ring.popleft()

    def before(self, spike: Spike) -> Kept | None:
        """The latest state from which all steps that are looked at can be trained again, or the earliest.

        None where all are too late, or were followed by another setting.
        """
        settings = [group.setting for group in self._groups]
        usable = [
            kept
            for kept in self._ring
            if kept.step < spike.first - BEFORE
            and all(a is b for a, b in zip(kept.settings, settings, strict=True))
        ]
        return max(
            (kept for kept in usable if kept.step < spike.first - EARLIER),
            key=lambda kept: kept.step,
            default=usable[0] if usable else None,
        )


def steps_around(spike: Spike, kept: int) -> list[int]:
    """The steps after `kept` that hold its clues: they depend on the spike alone, where that is early."""
    usual = range(spike.first - EARLIER + 1, spike.first - BEFORE + 1, THIN)
    near = np.arange(spike.first - BEFORE + 1, spike.peak + 1)
    if len(near) > MOST_LOOKS:
        near = near[np.linspace(0, len(near) - 1, MOST_LOOKS).round().astype(np.int64)]
    return [step for step in (*usual, *near.tolist()) if step > kept]


def moments(spike: Spike) -> dict[str, int]:
    """The steps at which sharpness is told."""
    return {"before": spike.first - 1, "at": spike.peak, "after": spike.last + 1}


def train_again(
    setting: GroupSetting, engine: str, seed: int, state: State, steps: Sequence[int], probe: Probe
) -> list[SnapshotView]:
    """Views of one seed after each of `steps`, which follow a `state` of its group.

    Every bit of the weights is that of the first time: a run alone is the run in its group, and as a resumed
    one.
    """
    group = group_for(setting, [seed], "cpu", engine)
    group.load(state)
    views = []
    for step in steps:
        group.advance(step - group.step)
        views.append(SnapshotView.of(group, probe, {}))
    return views


def asked(*kinds: str) -> dict[str, Diagnostic]:
    """These diagnostics, as they are by default."""
    return {kind: Diagnostic.variants[kind]() for kind in kinds}


def curves_of(steps: Sequence[int], answers: Sequence[Mapping[str, Answer]]) -> Curves:
    """The gradient norms and the curvature at `steps`, by their names in words."""
    return {name: _curve(steps, answers, *column) for name, column in CURVES.items()}


def clue_words(spike: Spike, curves: Curves) -> str:
    """What stood out before the spike, the most unusual first; empty where nothing is known."""
    return "; ".join(
        f"{clue.name} {clue.extreme:.3g} at step {clue.step}, usually {clue.usual:.3g}"
        for clue in clues(spike, curves, FALLING, BEFORE)
    )


def sharpness_words(spike: Spike, answers: Sequence[Mapping[str, Answer]]) -> str:
    """From the sharpness at `moments`; empty where the model has none."""
    names = {step: word for word, step in moments(spike).items()}
    told = zip(*_curve(list(names), answers, SHARPNESS, SHARPNESS), strict=True)
    said = [f"{value:.3g} {names[step]} it (step {step})" for step, value in told]
    return f"sharpness {', '.join(said)}" if said else ""


def _curve(
    steps: Sequence[int], answers: Sequence[Mapping[str, Answer]], kind: str, column: str
) -> tuple[np.ndarray, np.ndarray]:
    """Steps and values of one column of one seed, where it was answered."""
    found = [
        (step, float(answer.columns[column][0, 0, 0]))
        for step, by_kind in zip(steps, answers, strict=True)
        if isinstance(answer := by_kind[kind], PerHead)
    ]
    return np.array([step for step, _ in found], np.int64), np.array([value for _, value in found])
