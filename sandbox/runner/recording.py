"""What a training run leaves behind at each step: curves, readings, weights and events."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from sandbox.diagnostics import SnapshotView, probe_batch, read_all
from sandbox.engine.torch_engine import TorchGroup
from sandbox.experiment.experiment import Experiment
from sandbox.foundations.readings import Answer
from sandbox.foundations.written import percent
from sandbox.store import RunWriter

TARGET_ACCURACY = 0.98
"""Held-out accuracy whose first crossing is an event, for tasks that name no target of their own."""

MOST_PROBE_SEQUENCES = 64


@dataclass(frozen=True)
class Snapshot:
    """What `on_snapshot` is given: every arm's readings, by arm name and diagnostic kind, after `step`."""

    step: int
    readings: dict[str, dict[str, Answer]]


class Recorder:
    """Records the groups of one experiment; the arrays it needs to go on later are in `state`."""

    def __init__(self, experiment: Experiment, groups: Sequence[TorchGroup], writer: RunWriter) -> None:
        self._groups = groups
        self._writer = writer
        self.target = float(getattr(experiment.task, "target_accuracy", TARGET_ACCURACY))
        data = groups[0].task_data[0]
        self.probe = probe_batch(experiment.task, data, experiment.seeds[0])
        # One dictionary for all arms: what is fitted once (the plane of the trajectories) is shared.
        self._basis: dict[str, np.ndarray] = {}
        self.views: list[SnapshotView] = []
        """What the last readings looked at, one view per arm."""
        shape = (len(groups), len(experiment.seeds))
        self._crossed: Bool[np.ndarray, "arm seed"] = np.zeros(shape, dtype=np.bool_)
        self._diverged: Bool[np.ndarray, "arm seed"] = np.zeros(shape, dtype=np.bool_)

    def describe(self, device: str) -> None:
        """Record what holds for the whole run: reference lines, notes, labels, probe, layouts."""
        data = self._groups[0].task_data
        task = self._groups[0].setting.task
        notes = [
            f"seed {seed}: {note}"
            for seed, d in zip(self._writer.seeds, data, strict=True)
            for note in d.notes
        ]
        common = [note for note in data[0].notes if all(note in d.notes for d in data)]
        if all(len(d.notes) == len(common) for d in data):
            notes = common
        self._writer.describe(
            lines={
                "accuracy": _mean_lines([d.lines for d in data]),
                "loss": _mean_lines([d.loss_lines for d in data]),
            },
            notes=notes,
            task={
                "kind": task.kind,
                "token_labels": list(task.token_labels),
                "class_labels": list(task.class_labels),
                "pad_token": task.pad_token,
                "probe": [
                    {"tokens": list(self.probe.sequence(row)), "label": self.probe.labels[row]}
                    for row in range(min(len(self.probe.tokens), MOST_PROBE_SEQUENCES))
                ],
            },
            target={"curve": "test_accuracy", "value": self.target},
            device=device,
        )
        for arm, group in enumerate(self._groups):
            self._writer.layout(arm, group.layout.to_plain())

    def losses(self, arm: int, first: int, losses: Float[np.ndarray, "n run"]) -> None:
        """Record the batch losses of the updates from `first` on, and where one is no longer finite."""
        self._writer.scalars(arm, "loss", range(first, first + len(losses)), losses)
        broken = ~np.isfinite(losses)
        if not broken.any():
            return
        for seed in np.flatnonzero(broken.any(axis=0) & ~self._diverged[arm]):
            step = first + int(broken[:, seed].argmax())
            self._diverged[arm, seed] = True
            value = float(losses[step - first, seed])
            self._writer.event(step, "nan", f"the batch loss is {value}", arm, self._writer.seeds[seed])

    def evaluation(self, step: int, arm: int, found: Mapping[str, Float[np.ndarray, " run"]]) -> None:
        """Record what the full sets gave after `step`, and who has reached the target."""
        for name, values in found.items():
            self._writer.scalars(arm, name, [step], values[None, :])
        reached = (found["test_accuracy"] >= self.target) & ~self._crossed[arm]
        for seed in np.flatnonzero(reached):
            self._crossed[arm, seed] = True
            detail = f"held-out accuracy reached {percent(self.target)}"
            self._writer.event(step, "threshold", detail, arm, self._writer.seeds[seed])

    def readings(self, step: int) -> Snapshot:
        """Ask every cheap diagnostic of every arm."""
        answers = {}
        self.views = self.look(step)
        for arm, view in enumerate(self.views):
            answers[self._writer.arms[arm]] = read_all(view)
            for kind, answer in answers[self._writer.arms[arm]].items():
                self._writer.reading(step, arm, kind, answer)
        return Snapshot(step, answers)

    def look(self, step: int) -> list[SnapshotView]:
        """Every arm as it stands, after `step`."""
        return [SnapshotView.of(group, self.probe, self._basis, step=step) for group in self._groups]

    def look_back(self, arm: int, theta: Float[np.ndarray, "run parameter"], step: int) -> SnapshotView:
        """One arm with the weights that it had after `step`."""
        return SnapshotView.of(self._groups[arm], self.probe, self._basis, theta=theta, step=step)

    def weights(self, step: int) -> None:
        """Keep the weights of every arm and seed."""
        for arm, group in enumerate(self._groups):
            self._writer.weights(step, arm, group.theta())

    def state(self) -> dict[str, np.ndarray]:
        """What has to survive: the groups, fixed bases, and which events have been noted."""
        groups = {
            f"group/{arm}/{name}": array
            for arm, group in enumerate(self._groups)
            for name, array in group.state().items()
        }
        fixed = {f"basis/{name}": np.asarray(array) for name, array in self._basis.items()}
        noted = {"events/crossed": self._crossed.copy(), "events/diverged": self._diverged.copy()}
        return {**groups, **noted, **fixed}

    def load(self, state: dict[str, np.ndarray]) -> None:
        """Take up what `state` returned."""
        for arm, group in enumerate(self._groups):
            own = f"group/{arm}/"
            group.load({k.removeprefix(own): v for k, v in state.items() if k.startswith(own)})
        self._crossed = state["events/crossed"].astype(np.bool_)
        self._diverged = state["events/diverged"].astype(np.bool_)
        self._basis.update({k.removeprefix("basis/"): v for k, v in state.items() if k.startswith("basis/")})


def _mean_lines(lines: list[dict[str, float]]) -> dict[str, float]:
    """Each line's mean over the seeds' data sets, which differ a little."""
    return {name: float(np.mean([line[name] for line in lines])) for name in lines[0]}
