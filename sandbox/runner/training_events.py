"""What happens in a run's training, as events: loss spikes with their clues, and phases with their rule."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from jaxtyping import Float

from sandbox.diagnostics import Diagnostic, SnapshotView
from sandbox.engine.torch_engine import TorchGroup
from sandbox.foundations.readings import Answer, PerHead
from sandbox.mathematics.phases import UNKNOWN, name_phases
from sandbox.runner.costly_readings import CostlyReadings
from sandbox.runner.recording import Recorder, Snapshot
from sandbox.runner.spike_watch import FoundSpike, SpikeWatch
from sandbox.store import RunWriter

SPIKE, PHASE = "spike", "phase"
CHANCE = "uniform answer"
RECENT = 20
"""Batch losses whose median stands for the loss at a kept snapshot."""


class TrainingEvents:
    """Looks at every turn and every kept snapshot; `state` leads a resumed run to the same events."""

    def __init__(
        self, groups: Sequence[TorchGroup], writer: RunWriter, recorder: Recorder, costly: CostlyReadings
    ) -> None:
        self._groups, self._writer, self._recorder, self._costly = groups, writer, recorder, costly
        self._watch = SpikeWatch(len(groups), len(writer.seeds), self._look)
        self._chance = [data.loss_lines.get(CHANCE, 0.0) for data in groups[0].task_data]
        self._points = np.zeros((len(groups), len(writer.seeds), 0, 3))
        """(arm, seed, snapshot, 3): step, loss in nats, within / total."""

    def turn(self, step: int, losses: Sequence[Float[np.ndarray, "n run"]]) -> None:
        """Take in the losses of the updates up to `step`."""
        norms = [group.norms.get("gradient: all") for group in self._groups]
        for found in self._watch.turn(step, losses, norms, self._weights):
            seed = self._writer.seeds[found.seed]
            tell = partial(self._writer.event, found.spike.peak, SPIKE, arm=found.arm, seed=seed)
            tell(detail=found.words)
            self._ask_sharpness(found, tell)

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
        for arm, seed in np.ndindex(self._points.shape[:2]):
            self._tell_phases(arm, seed)

    def state(self) -> dict[str, np.ndarray]:
        """What a resumed run needs."""
        return {"phases/points": self._points.copy(), **self._watch.state()}

    def load(self, state: dict[str, np.ndarray], step: int) -> None:
        """Take up what `state` returned at `step`."""
        self._points = state.get("phases/points", self._points).copy()
        self._watch.load(state, step)

    def _tell_phases(self, arm: int, seed: int) -> None:
        steps, losses, within = self._points[arm, seed].T
        if self._chance[seed] <= 0 or not np.isfinite(within).any():
            return
        for phase in name_phases(steps.astype(np.int64), losses, within, self._chance[seed]):
            if phase.name != UNKNOWN:  # the same event again is the same event
                detail = f"{phase.name}: {phase.rule}"
                self._writer.event(phase.first, PHASE, detail, arm, self._writer.seeds[seed])

    def _ask_sharpness(self, found: FoundSpike, tell: partial[None]) -> None:
        """Have the sharpness before, at and after the spike read, if there is room for it, and add it."""
        around = self._watch.around(found)

        def add(answers: list[dict[str, Answer]]) -> None:
            told = []
            for (word, view), read in zip(around, answers, strict=True):
                answer = read["sharpness"]
                if isinstance(answer, PerHead):
                    value = float(answer.columns["sharpness"][0, 0, 0])
                    told.append(f"{value:.3g} {word} it (step {view.step})")
            if told:
                tell(detail=f"{found.words}; sharpness {', '.join(told)}")

        if around:
            views = [view for _, view in around]
            self._costly.aside({"sharpness": Diagnostic.variants["sharpness"]()}, views, add)

    def _weights(self) -> list[np.ndarray]:
        # On another device a copy of every turn would make the host wait for it.
        return [group.theta() for group in self._groups] if self._groups[0].device.type == "cpu" else []

    def _look(self, arm: int, theta: np.ndarray, step: int) -> SnapshotView:
        return self._recorder.look_back(arm, theta, step)
