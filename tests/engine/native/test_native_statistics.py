"""Outcomes are chaotic per seed, so the engines are compared over 32 seeds: they solve as many, as fast."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

from sandbox.conditioning.projection.spectral import SpectralConditioning
from sandbox.conditioning.projection.spectral_svd import SpectralSvd
from sandbox.conditioning.query_key.qk_rms import RmsQueryKey
from sandbox.engine.native.group import NativeGroup
from sandbox.engine.optimizer import Adam, AdamW
from sandbox.engine.torch_engine import TorchGroup
from sandbox.models.encoder import Encoder
from sandbox.models.placement.pre_ln import PreLN
from sandbox.models.visual_model import VisualModel
from sandbox.tasks.sparse_modular_addition import SparseModularAddition
from tests.engine.arms import Setting

SEEDS = range(32)
LEAST_P = 0.01
ADDITION = SparseModularAddition(n_terms=3, split="overlapping")
SHORT = SparseModularAddition(length=8, n_terms=3, n_train=1024, n_test=512, split="overlapping")
ENCODER = Encoder(d_model=16, d_ff=32, placement=PreLN(), projection=SpectralConditioning(shift=0.5))
CARRYING = Encoder(d_model=16, d_ff=32, projection=SpectralSvd(every=4), qk=RmsQueryKey())
CASES = {
    "visual model": (Setting(VisualModel(d_model=8), 32, ADDITION, Adam(learning_rate=3e-3)), 60, 64),
    "encoder": (Setting(ENCODER, 64, SHORT, AdamW(learning_rate=3e-3)), 25, 16),
    "encoder, carrying": (Setting(CARRYING, 64, SHORT, AdamW(learning_rate=3e-3)), 25, 16),
}
"""Setting, epochs, steps of an epoch."""


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_32_seeds_end_as_they_do_with_torch(name: str):
    setting, epochs, steps = CASES[name]
    found = []
    for kind in (TorchGroup, NativeGroup):
        group = kind(setting, SEEDS)
        losses = group.advance(epochs * steps)
        # The epoch in which a run's mean loss first falls below half of ln 2.
        below = losses.reshape(epochs, steps, len(SEEDS)).mean(1) < 0.5 * np.log(2)
        found.append((np.where(below.any(0), below.argmax(0), epochs), group.evaluate()))
    (torch_epochs, torch_metrics), (solved, metrics) = found
    assert np.sum(torch_epochs < epochs) >= 8, "too few runs learn for a comparison"
    assert ks_2samp(torch_epochs, solved).pvalue > LEAST_P
    for metric in ("train_loss", "test_loss", "test_accuracy"):
        assert ks_2samp(torch_metrics[metric], metrics[metric]).pvalue > LEAST_P
    assert abs(np.sum(torch_epochs < epochs) - np.sum(solved < epochs)) <= 8
