"""Admission: the experiment that a plain form describes, if it is sound and not too large to run."""

from typing import Any

from sandbox.experiment.cost import estimate, refuse_excess
from sandbox.experiment.describe import count_parameters
from sandbox.experiment.experiment import Experiment, load


def admit(plain: dict[str, Any]) -> Experiment:
    """Build the experiment, or raise in one sentence what is wrong with it or that it asks too much."""
    experiment = load(plain)
    refuse_excess(estimate(experiment, count_parameters(experiment)))
    return experiment
