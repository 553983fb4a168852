"""Admission: the experiment that a plain form describes, if it is sound and not too large to run."""

from typing import Any

from sandbox.experiment.cost import Cost, estimate, refuse_excess
from sandbox.experiment.describe import count_parameters
from sandbox.experiment.experiment import Experiment, load


def admit(plain: dict[str, Any]) -> Experiment:
    """Build the experiment, or raise in one sentence what is wrong with it or that it asks too much."""
    return admit_with_cost(plain)[0]


def admit_with_cost(plain: dict[str, Any]) -> tuple[Experiment, Cost]:
    """As `admit`, with what the experiment is estimated to cost."""
    experiment = load(plain)
    cost = estimate(experiment, count_parameters(experiment))
    refuse_excess(cost)
    return experiment, cost
