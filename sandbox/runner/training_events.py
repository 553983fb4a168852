"""What happens in a run's training, as events: loss spikes with their clues, and phases with their rule."""

from collections import deque
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from sandbox.engine.torch_engine import TorchGroup
from sandbox.foundations.readings import Answer, PerHead
from sandbox.mathematics.phases import UNKNOWN, name_phases
from sandbox.runner.costly_readings import CostlyReadings
from sandbox.runner.recording import Recorder, Snapshot
from sandbox.runner.spike_replay import Kept, RecentStates, asked_of, explanation, steps_around, train_again
from sandbox.runner.spike_watch import FoundSpike, SpikeWatch
from sandbox.store import RunWriter

SPIKE, PHASE = "spike", "phase"
CHANCE = "uniform answer"
RECENT = 20
"""Batch losses whose median stands for the loss at a kept snapshot."""

MOST_WAITING = 8
"""Spikes that wait to be looked into; of more, the latest are told without what came before them."""


class TrainingEvents:
    """Looks at every turn and every kept snapshot; `state` leads a resumed run to the same events."""

    def __init__(
        self, groups: Sequence[TorchGroup], writer: RunWriter, recorder: Recorder, costly: CostlyReadings
    ) -> None:
        self._groups, self._writer, self._recorder, self._costly = groups, writer, recorder, costly
        self._watch = SpikeWatch(len(groups), len(writer.seeds))
        self._states = RecentStates(groups)
        self._waiting: deque[tuple[FoundSpike, Kept]] = deque()
        self._chance = [data.loss_lines.get(CHANCE, 0.0) for data in groups[0].task_data]
        self._points = np.zeros((len(groups), len(writer.seeds), 0, 3))
        """(arm, seed, snapshot, 3): step, loss in nats, within / total."""

    def turn(self, step: int, losses: Sequence[Float[np.ndarray, "n run"]]) -> None:
        """Take in the losses of the updates up to `step`."""
        self._states.turn(step)
        for found in self._watch.turn(losses):
            self._tell(found, "")
            kept = self._states.before(found.spike)
            if kept is not None and len(self._waiting) < MOST_WAITING:
                self._waiting.append((found, kept))
        if self._waiting and self._look_into(*self._waiting[0]):
            self._waiting.popleft()

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

    def _tell(self, found: FoundSpike, came_with: str) -> None:
        detail = "; ".join(filter(None, [found.words, came_with]))
        self._writer.event(found.spike.peak, SPIKE, detail, found.arm, self._writer.seeds[found.seed])

    def _look_into(self, found: FoundSpike, kept: Kept) -> bool:
        """Have the steps around a spike trained again and read; False while there is no room for it."""
        arm, group = found.arm, self._groups[found.arm]
        steps = steps_around(found.spike, kept.step)
        again = (group, kept.settings[arm], kept.states[arm], found.seed, steps)

        def add(answers: list[dict[str, Answer]]) -> None:
            self._tell(found, explanation(found.spike, steps, answers))

        # In the forked process: the group that moves there is a copy of this one.
        return self._costly.aside(
            asked_of(found.spike),
            lambda: train_again(*again, lambda step: self._recorder.look_at(arm, step)),
            len(steps),
            add,
        )
