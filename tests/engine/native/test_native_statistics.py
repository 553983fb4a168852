"""Outcomes are chaotic per seed, so the engines are compared over 32 seeds: they solve as many, as fast."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

from sandbox.engine.native.group import NativeGroup
from sandbox.engine.optimizer import Adam
from sandbox.engine.torch_engine import TorchGroup
from sandbox.models.visual_model import VisualModel
from sandbox.tasks.sparse_modular_addition import SparseModularAddition
from tests.engine.arms import Setting

SEEDS = range(32)
EPOCH = 64  # steps
EPOCHS = 60
LEAST_P = 0.01


@pytest.mark.slow
def test_32_seeds_end_as_they_do_with_torch():
    task = SparseModularAddition(n_terms=3, split="overlapping")
    setting = Setting(VisualModel(d_model=8), 32, task, Adam(learning_rate=3e-3))
    found = {}
    for kind in (TorchGroup, NativeGroup):
        group = kind(setting, SEEDS)
        losses = group.advance(EPOCH * EPOCHS)
        # The step at which a run's loss, averaged over an epoch, first falls below half of ln 2.
        by_epoch = losses.reshape(EPOCHS, EPOCH, len(SEEDS)).mean(1)
        below = by_epoch < 0.5 * np.log(2)
        solved = np.where(below.any(0), below.argmax(0), EPOCHS)
        found[kind] = solved, group.evaluate()
    (torch_epochs, torch_metrics), (epochs, metrics) = found.values()
    assert (torch_epochs < EPOCHS).sum() >= 8, "too few runs learn for a comparison"
    assert ks_2samp(torch_epochs, epochs).pvalue > LEAST_P
    for name in ("train_loss", "test_loss", "test_accuracy"):
        assert ks_2samp(torch_metrics[name], metrics[name]).pvalue > LEAST_P
    assert abs((torch_epochs < EPOCHS).sum() - (epochs < EPOCHS).sum()) <= 8
