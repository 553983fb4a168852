"""The final numbers of a study: one line per point and arm, over the seeds that did not diverge."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64

from sandbox.foundations.errors import SandboxError
from sandbox.store.folder import run_path
from sandbox.store.run_reader import open_run
from sandbox.store.study import Study

METRICS = {
    "test_accuracy": "Held-out accuracy",
    "test_loss": "Held-out loss",
    "train_accuracy": "Training accuracy",
    "train_loss": "Training loss",
}
"""What a study can be seen by: values of the last evaluation, by curve."""


@dataclass(frozen=True, eq=False)
class FinalRow:
    """One arm of one point."""

    point: int
    values: dict[str, Any]
    run: str
    state: str
    arm: str
    seeds: tuple[int, ...]
    step: int | None
    """Step of the evaluation, None where there was none yet."""
    final: dict[str, Float64[np.ndarray, " seed"]]
    """By curve, the value of every seed there; NaN for what is not a number."""

    @property
    def n(self) -> int:
        """Seeds with a finite held-out loss."""
        return int(np.isfinite(self.final["test_loss"]).sum()) if "test_loss" in self.final else 0

    @property
    def accuracy(self) -> float | None:
        """Mean held-out accuracy over the seeds that did not diverge."""
        return self.mean("test_accuracy")

    @property
    def loss(self) -> float | None:
        """Mean held-out loss over the seeds that did not diverge."""
        return self.mean("test_loss")

    def mean(self, metric: str) -> float | None:
        """Mean of a metric over finite seeds; None where there is none."""
        values = self.final.get(metric, np.zeros(0))
        found = values[np.isfinite(values)]
        return float(found.mean()) if len(found) else None


def final_table(study: Study, states: Sequence[str]) -> list[FinalRow]:
    """A row for each point and arm, in order; a point without a readable run has rows without numbers."""
    found: list[FinalRow] = []
    for number, (point, state) in enumerate(zip(study.points, states, strict=True)):
        arms = [str(arm["name"]) for arm in point.plain["arms"]]
        seeds = tuple(point.plain["seeds"])
        finals: dict[str, tuple[int | None, dict[str, np.ndarray]]] = {}
        try:
            with open_run(run_path(point.run)) as run:
                for arm in run.arms:
                    curves = {name: run.group_curve(name, arm) for name in METRICS}
                    steps = curves["test_loss"][0]
                    finals[arm] = (
                        int(steps[-1]) if len(steps) else None,
                        {name: values[-1] for name, (_, values) in curves.items() if len(values)},
                    )
        except SandboxError:
            finals = {}
        for arm in arms:
            step, final = finals.get(arm, (None, {}))
            found.append(FinalRow(number, point.values, point.run, state, arm, seeds, step, final))
    return found


def number_of(value: Any) -> float | None:
    """The value of a knob as a place on an axis; None for what is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)
