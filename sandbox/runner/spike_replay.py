"""What came with a loss spike: the steps around it, trained again beside the run from a kept state."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sandbox.diagnostics import Diagnostic, SnapshotView
from sandbox.diagnostics.sharpness import Sharpness
from sandbox.engine.setting import GroupSetting
from sandbox.engine.torch_engine import TorchGroup
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import Answer, PerHead
from sandbox.mathematics.spikes import Clue, Spike, clues

KEEP_EVERY = 50
"""Least steps between two states that are kept."""

MOST_STATES, RING_BYTES = 12, 32 * 2**20
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
Look = Callable[[int], SnapshotView]
"""Step -> the view of the arm that is trained again, which stands there."""


@dataclass(frozen=True, kw_only=True)
class Kept:
    """The groups of a run as they stood after `step`, and the settings under which they went on."""

    step: int
    settings: Sequence[GroupSetting]
    states: Sequence[State]


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


@dataclass(frozen=True, kw_only=True)
class Around(Sharpness):
    """Sharpness at `steps` alone: it costs more than all else that is looked at."""

    steps: Sequence[int] = field(default=())

    def read(self, view: SnapshotView) -> Answer:
        """As of every step's, or that it is not asked here."""
        return super().read(view) if view.step in self.steps else NotApplicable("Not asked at this step.")


def asked_of(spike: Spike) -> dict[str, Diagnostic]:
    """What is read at the steps around a spike."""
    around = Around(steps=list(_moments(spike).values()))
    return {kind: Diagnostic.variants[kind]() for kind in (GRADIENT, CURVATURE)} | {SHARPNESS: around}


def steps_around(spike: Spike, kept: int) -> list[int]:
    """The steps after `kept` that say what came with a spike: they depend on it alone, if that is early."""
    usual = range(spike.first - EARLIER + 1, spike.first - BEFORE + 1, THIN)
    near = np.arange(spike.first - BEFORE + 1, spike.peak + 1)
    if len(near) > MOST_LOOKS:
        near = near[np.linspace(0, len(near) - 1, MOST_LOOKS).round().astype(np.int64)]
    found = {*usual, *near.tolist(), *_moments(spike).values()}
    return sorted(step for step in found if step > kept)


def train_again(
    group: TorchGroup, setting: GroupSetting, state: State, seed: int, steps: Sequence[int], look: Look
) -> list[SnapshotView]:
    """One view of the seed in place `seed` after each of `steps`; `group` is then where they end.

    Every bit is that of the first time, as of a run that is resumed.
    """
    if group.setting is not setting:
        group.change(setting)
    group.load(state)
    views = []
    for step in steps:
        group.advance(step - group.step)
        views.append(look(step).for_run(seed))
    return views


def explanation(spike: Spike, steps: Sequence[int], answers: Sequence[Mapping[str, Answer]]) -> str:
    """In words, the answers to `asked_of` after each of `steps`; the most unusual clue first."""
    curves = {name: _curve(steps, answers, *column) for name, column in CURVES.items()}
    told = [_said(clue) for clue in clues(spike, curves, FALLING, BEFORE)]
    sharpness = dict(zip(*_curve(steps, answers, SHARPNESS, SHARPNESS), strict=True))
    sharp = [
        f"{sharpness[step]:.3g} {word} it (step {step})"
        for word, step in _moments(spike).items()
        if step in sharpness
    ]
    return "; ".join([*told, *([f"sharpness {', '.join(sharp)}"] if sharp else [])])


def _moments(spike: Spike) -> dict[str, int]:
    return {"before": spike.first - 1, "at": spike.peak, "after": spike.last + 1}


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


def _said(clue: Clue) -> str:
    return f"{clue.name} {clue.extreme:.3g} at step {clue.step}, usually {clue.usual:.3g}"
