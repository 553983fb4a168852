"""A run's arms as they stood at a stored step, from their stored weights, for any diagnostic."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from sandbox.diagnostics import SnapshotView, probe_batch
from sandbox.engine.torch_engine import TorchGroup
from sandbox.experiment.experiment import Experiment, load
from sandbox.experiment.live_change import LiveChange, changed
from sandbox.experiment.setting import ArmSetting
from sandbox.store import open_run
from sandbox.store.checkpoint import latest_checkpoint


@dataclass(frozen=True, kw_only=True)
class StoredStep:
    """All that is stored of a step; `views` needs no file, so that a forked process can make them."""

    step: int
    experiment: Experiment
    settings: list[ArmSetting]
    weights: list[Float[np.ndarray, "run parameter"]]
    """By arm."""
    basis: dict[str, np.ndarray]

    @classmethod
    def of(cls, folder: str | Path, step: int) -> "StoredStep":
        """Read what is stored of `step`.

        Raises InvalidData where no weights are stored then, naming the nearest steps that have some.
        """
        with open_run(folder) as run:
            experiment = load(run.experiment)
            return cls(
                step=step,
                experiment=experiment,
                settings=settings_at(experiment, run.meta("changes"), step),
                weights=[run.weights(step, arm) for arm in run.arms],
                basis=_basis(run.path),
            )

    def views(self) -> list[SnapshotView]:
        """One view per arm after the step, under the settings that live changes had made by then."""
        seeds = self.experiment.seeds
        groups = [TorchGroup(setting, seeds, "cpu") for setting in self.settings]
        probe = probe_batch(self.experiment.task, groups[0].task_data[0], seeds[0])
        return [
            SnapshotView.of(group, probe, self.basis, theta=theta, step=self.step)
            for group, theta in zip(groups, self.weights, strict=True)
        ]


def settings_at(experiment: Experiment, changes: Any, step: int) -> list[ArmSetting]:
    """The settings of the arms that led to the weights after `step`: changes at `step` come after it."""
    settings = {arm.name: experiment.setting(arm.name) for arm in experiment.arms}
    for change in [LiveChange(**plain) for plain in changes or []]:
        if change.step < step:
            settings[change.arm] = changed(settings[change.arm], change.key, change.value)
    return list(settings.values())


def _basis(folder: Path) -> dict[str, np.ndarray]:
    """The bases that were fitted when the run began; without a checkpoint they are fitted anew."""
    found = latest_checkpoint(folder)
    arrays = {} if found is None else found[1]
    return {k.removeprefix("basis/"): v for k, v in arrays.items() if k.startswith("basis/")}
