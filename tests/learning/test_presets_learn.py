"""Presets keep what they say: they learn, within the CPU time that their names promise."""

import time

import pytest

from sandbox.engine.device import one_thread
from sandbox.engine.torch_engine import TorchGroup
from sandbox.experiment.experiment import from_plain_experiment
from sandbox.experiment.presets import preset

pytestmark = pytest.mark.slow


def best_accuracy(name: str, cpu_seconds: float, every: int) -> list[float]:
    """Best held-out accuracy of each seed of the preset's standard arm, data and start included in the time."""
    one_thread()
    started = time.process_time()
    experiment = from_plain_experiment(preset(name).experiment)
    group = TorchGroup(experiment.setting("standard"), experiment.seeds)
    best = [0.0] * len(experiment.seeds)
    while group.step < experiment.steps:
        group.advance(min(every, experiment.steps - group.step))
        accuracy = group.evaluate()["test_accuracy"]
        if time.process_time() - started > cpu_seconds:
            break
        best = [max(pair) for pair in zip(best, map(float, accuracy), strict=True)]
    return best


def test_fast_listops_passes_75_percent_in_10_cpu_seconds():
    assert best_accuracy("fast listops", 10, every=50)[0] >= 0.75


def test_one_minute_listops_passes_70_percent_in_60_cpu_seconds():
    assert best_accuracy("one-minute listops", 60, every=200)[0] >= 0.70


def test_every_seed_of_conditioned_against_standard_passes_98_percent():
    assert min(best_accuracy("conditioned against standard", 600, every=100)) > 0.98
