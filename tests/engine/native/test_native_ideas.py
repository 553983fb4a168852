"""Each idea of the encoder alone, trained natively, follows torch as long as torch follows itself."""

from typing import Any

import numpy as np
import pytest

from sandbox.attention.causal import Causal
from sandbox.conditioning.output.preconditioned import Preconditioned
from sandbox.conditioning.projection.sigma_reparam import SigmaReparam
from sandbox.conditioning.projection.spectral import SpectralConditioning
from sandbox.conditioning.projection.spectral_svd import SpectralSvd
from sandbox.conditioning.query_key.qk_l2 import L2QueryKey
from sandbox.conditioning.query_key.qk_rms import RmsQueryKey
from sandbox.conditioning.temperature.warm_up import WarmUpTemperature
from sandbox.engine.native.group import NativeGroup
from sandbox.engine.optimizer import AdamW
from sandbox.engine.torch_engine import TorchGroup
from sandbox.models.encoder import Encoder
from sandbox.models.placement.deepnorm import DeepNorm
from sandbox.models.placement.no_norm import NoNormalization
from sandbox.models.placement.post_ln import PostLN
from sandbox.models.placement.pre_ln import PreLN
from sandbox.tasks.sparse_modular_addition import SparseModularAddition
from tests.engine.arms import Setting

IDEAS: dict[str, dict[str, Any]] = {
    "rms norm": {"placement": PreLN(norm="rms norm")},
    "post-ln": {"placement": PostLN()},
    "deepnorm": {"placement": DeepNorm(affine=False)},
    "no norm": {"placement": NoNormalization()},
    "causal": {"mechanism": Causal()},
    "spectral": {"projection": SpectralConditioning(shift=0.5)},
    "spectral-svd": {"projection": SpectralSvd()},
    "spectral-svd, packed": {"projection": SpectralSvd(heads="packed", every=5)},
    "sigma-reparam": {"projection": SigmaReparam()},
    "preconditioned": {"output": Preconditioned()},
    "preconditioned, differentiated": {"output": Preconditioned(differentiate=True)},
    "qk-l2": {"qk": L2QueryKey()},
    "qk-rms": {"qk": RmsQueryKey()},
    "warm-up": {"temperature": WarmUpTemperature(steps=60)},
    "first": {"readout": "first"},
    "last": {"readout": "last"},
}
TASK = SparseModularAddition(n_train=300, n_test=64)
STEPS = 200
SELF = 3e-6
"""Nats between torch and itself, its start moved by one rounding, up to which a run counts as followed."""


@pytest.mark.slow
@pytest.mark.parametrize("name", IDEAS)
def test_it_follows_torch_as_long_as_torch_follows_itself(name: str):
    model = Encoder(d_model=12, d_ff=20, **IDEAS[name])
    setting = Setting(model, 32, TASK, AdamW(learning_rate=1e-3), steps=STEPS)
    torch_group, nudged, group = (
        TorchGroup(setting, (1,)),
        TorchGroup(setting, (1,)),
        NativeGroup(setting, (1,)),
    )
    state = nudged.state()
    trained = state["theta"][:, : nudged.layout.trained_size]
    trained *= 1 + np.random.default_rng(0).choice([-6e-8, 6e-8], trained.shape).astype(np.float32)
    nudged.load(state)
    expected = torch_group.advance(STEPS)
    apart = np.maximum.accumulate(np.abs(nudged.advance(STEPS) - expected), axis=0)
    followed = apart < SELF
    assert followed.sum(0).min() >= 30
    assert np.abs(group.advance(STEPS) - expected)[followed].max() <= 1e-4
