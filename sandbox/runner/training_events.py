"""What happens in a run's training, as events: loss spikes with their clues, and phases with their rule."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from sandbox.engine.torch_engine import TorchGroup
from sandbox.foundations.readings import Answer, PerHead
from sandbox.mathematics.phases import CHANGING, UNKNOWN, Phase, name_phases
from sandbox.runner.costly_readings import CostlyReadings
from sandbox.runner.recording import Recorder, Snapshot
from sandbox.runner.spike_replay import (
    CURVATURE,
    GRADIENT,
    SHARPNESS,
    Kept,
    RecentNorms,
    RecentStates,
    asked,
    clue_words,
    curves_of,
    moments,
    sharpness_words,
    steps_around,
    train_again,
)
from sandbox.runner.spike_watch import FoundSpike, SpikeWatch
from sandbox.store import RunWriter

SPIKE, PHASE = "spike", "phase"
CHANCE = "uniform answer"
RECENT = 20
"""Batch losses whose median stands for the loss at a kept snapshot."""

MOST_WAITING = 8
"""Spikes that wait to be looked into."""

LEFT = "the steps before it have not been looked into, for which diagnostics have a tenth of the CPU"
UNKNOWN_BEFORE = "nothing is kept from the steps before it"
NO_CLUE = "no clue is known from the steps before"


@dataclass(frozen=True, kw_only=True)
class _Unexplained:
    """A spike that waits for its clues, or with the `clues` told for the sharpness around it."""

    found: FoundSpike
    kept: Kept
    clues: str = ""

    @property
    def turn(self) -> tuple[bool, float]:
        """Clues go before what costs more, the highest rise in nats first: the greatest is next."""
        return not self.clues, self.found.spike.height - self.found.spike.base


class TrainingEvents:
    """Looks at every turn and every kept snapshot; `state` leads a resumed run to the same events."""

    def __init__(
        self, groups: Sequence[TorchGroup], writer: RunWriter, recorder: Recorder, costly: CostlyReadings
    ) -> None:
        self._groups, self._writer, self._recorder, self._costly = groups, writer, recorder, costly
        self._watch = SpikeWatch(len(groups), len(writer.seeds))
        self._states, self._norms = RecentStates(groups), RecentNorms(groups)
        self._waiting: list[_Unexplained] = []
        self._chance = [data.loss_lines.get(CHANCE, 0.0) for data in groups[0].task_data]
        self._doubted = np.full((len(groups), len(writer.seeds)), -1, np.int64)
        """The step at which a change of phase began that is not certain yet; -1 where there is none."""
        self._points = np.zeros((len(groups), len(writer.seeds), 0, 3))
        """(arm, seed, snapshot, 3): step, loss in nats, within / total."""

    def turn(self, step: int, losses: Sequence[Float[np.ndarray, "n run"]]) -> None:
        """Take in the losses of the updates up to `step`."""
        self._states.turn(step)
        self._norms.turn(step)
        for found in self._watch.turn(losses):
            self._begin(found)
        if self._waiting and self._look_into(self._waiting[-1]):
            self._waiting.pop()

    def finish(self, step: int, patience: float) -> None:
        """The run ends: what waits is looked into for `patience` seconds more, the highest spikes first."""
        self._tell_phases(ended=True)
        deadline = time.monotonic() + patience
        while self._waiting and (left := deadline - time.monotonic()) > 0:
            self._costly.wait(step, left)
            if self._look_into(self._waiting[-1], on_credit=True):
                self._waiting.pop()

    def kept(self, snapshot: Snapshot) -> None:
        """Take in the readings of a kept snapshot, and tell the phases that have become certain."""
        losses = self._watch.recent(RECENT)
        fresh = np.full((*self._points.shape[:2], 1, 3), np.nan)
        fresh[..., 0] = snapshot.step
        fresh[..., 0, 1] = losses
        for arm, answers in enumerate(snapshot.readings.values()):
            clustering = answers.get("clustering")
            if isinstance(clustering, PerHead):
                fresh[arm, :, 0, 2] = clustering.columns["within / total"][:, 0, 0]
        self._points = np.concatenate([self._points, fresh], axis=2)
        self._tell_phases()

    def state(self) -> dict[str, np.ndarray]:
        """What a resumed run needs."""
        return {
            "phases/points": self._points.copy(),
            "phases/doubted": self._doubted.copy(),
            **self._watch.state(),
        }

    def load(self, state: dict[str, np.ndarray], step: int) -> None:
        """Take up what `state` returned at `step`."""
        self._points = state.get("phases/points", self._points).copy()
        self._doubted = state.get("phases/doubted", self._doubted).copy()
        self._watch.load(state, step)

    def _tell_phases(self, *, ended: bool = False) -> None:
        for arm, seed in np.ndindex(self._points.shape[:2]):
            phases = self._phases(arm, seed, ended=ended)
            for phase in phases:
                if phase.name != UNKNOWN:  # the same event again is the same event
                    self._tell_phase(phase.first, phase, arm, seed)
            self._take_back(arm, seed, phases)

    def _phases(self, arm: int, seed: int, *, ended: bool = False) -> list[Phase]:
        """The phases of a seed so far; none where nothing names them."""
        steps, losses, within = self._points[arm, seed].T
        if self._chance[seed] <= 0 or not np.isfinite(within).any():
            return []
        return name_phases(steps.astype(np.int64), losses, within, self._chance[seed], ended=ended)

    def _tell_phase(self, step: int, phase: Phase, arm: int, seed: int) -> None:
        self._writer.event(step, PHASE, f"{phase.name}: {phase.rule}", arm, self._writer.seeds[seed])

    def _take_back(self, arm: int, seed: int, phases: list[Phase]) -> None:
        """A change that came to nothing is a part of the phase around it."""
        began = int(self._doubted[arm, seed])
        if began >= 0 and began not in [phase.first for phase in phases]:
            self._tell_phase(began, [phase for phase in phases if phase.first < began][-1], arm, seed)
        self._doubted[arm, seed] = phases[-1].first if phases and phases[-1].name == CHANGING else -1

    def _tell(self, found: FoundSpike, came_with: str) -> None:
        seed = self._writer.seeds[found.seed]
        self._writer.event(found.spike.peak, SPIKE, f"{found.words}; {came_with}", found.arm, seed)

    def _begin(self, found: FoundSpike) -> None:
        """Tell of a spike what is known without training again, and have the rest looked into."""
        kept = self._states.before(found.spike)
        tokens = self._recorder.probe.tokens[:1]
        curves = None
        if "xi" not in self._groups[found.arm].trace(tokens):  # which is known of no step that has passed
            curves = self._norms.curves(found.arm, found.seed, steps_around(found.spike, -1))
        clues = "" if curves is None else clue_words(found.spike, curves) or NO_CLUE
        self._tell(found, clues or (LEFT if kept else UNKNOWN_BEFORE))
        if kept is not None:
            self._queue(_Unexplained(found=found, kept=kept, clues=clues))

    def _queue(self, one: _Unexplained) -> None:
        self._waiting = sorted([*self._waiting, one], key=lambda one: one.turn)[-MOST_WAITING:]

    def _look_into(self, one: _Unexplained, *, on_credit: bool = False) -> bool:
        """Have the steps around a spike trained again and read; False while there is no room for it."""
        found, spike, arm = one.found, one.found.spike, one.found.arm
        steps = list(moments(spike).values()) if one.clues else steps_around(spike, one.kept.step)
        again = (
            one.kept.settings[arm], self._groups[arm].engine, self._writer.seeds[found.seed],
            one.kept.states[arm], steps, self._recorder.probe,
        )  # fmt: skip

        def add(answers: list[dict[str, Answer]]) -> None:
            if one.clues:
                self._tell(found, "; ".join(filter(None, [one.clues, sharpness_words(spike, answers)])))
                return
            clues = clue_words(spike, curves_of(steps, answers)) or NO_CLUE
            self._tell(found, clues)
            self._queue(replace(one, clues=clues))

        kinds = asked(SHARPNESS) if one.clues else asked(GRADIENT, CURVATURE)
        return self._costly.aside(kinds, lambda: train_again(*again), len(steps), add, on_credit=on_credit)
