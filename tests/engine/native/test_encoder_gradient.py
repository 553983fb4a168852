"""The encoder's hand-written gradient against torch's, over random models, ideas, weights and batches."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.attention import Mechanism
from sandbox.attention.causal import Causal
from sandbox.attention.softmax import Softmax
from sandbox.conditioning.output.direct import DirectOutput
from sandbox.conditioning.output.preconditioned import Preconditioned
from sandbox.conditioning.projection.plain import PlainProjection
from sandbox.conditioning.projection.sigma_reparam import SigmaReparam
from sandbox.conditioning.projection.spectral import SpectralConditioning
from sandbox.conditioning.projection.spectral_svd import SpectralSvd
from sandbox.conditioning.query_key.qk_l2 import L2QueryKey
from sandbox.conditioning.query_key.qk_plain import PlainQueryKey
from sandbox.conditioning.query_key.qk_rms import RmsQueryKey
from sandbox.conditioning.temperature.constant import ConstantTemperature
from sandbox.conditioning.temperature.sqrt_d import SqrtTemperature
from sandbox.conditioning.temperature.unit import UnitTemperature
from sandbox.conditioning.temperature.warm_up import WarmUpTemperature
from sandbox.engine.native.group import NativeGroup
from sandbox.models.encoder import Encoder
from sandbox.models.placement.deepnorm import DeepNorm
from sandbox.models.placement.no_norm import NoNormalization
from sandbox.models.placement.post_ln import PostLN
from sandbox.models.placement.pre_ln import PreLN
from sandbox.tasks.listops import ListOps
from sandbox.tasks.sparse_modular_addition import SparseModularAddition
from tests.engine.arms import Setting
from tests.engine.native.oracles import assert_gradient_is_torchs

NORMS = [{"norm": norm, "affine": affine} for norm in ("layer norm", "rms norm") for affine in (True, False)]
SLOTS: dict[str, list[Any]] = {
    "placement": [
        *(kind(**norm) for kind in (PreLN, PostLN, DeepNorm) for norm in NORMS),
        NoNormalization(),
    ],
    "mechanism": [Softmax(), Causal()],
    "projection": [
        PlainProjection(),
        SpectralConditioning(shift=0.5),
        SpectralConditioning(shift=0.3, heads="first", key=False),
        SpectralSvd(),
        SpectralSvd(heads="packed", value=False),
        SigmaReparam(),
        SigmaReparam(query=False),
    ],
    "qk": [
        PlainQueryKey(),
        L2QueryKey(),
        L2QueryKey(gain=3.0, trained=False),
        RmsQueryKey(),
        RmsQueryKey(gain=1.5, trained=False),
    ],
    "temperature": [
        SqrtTemperature(),
        UnitTemperature(),
        ConstantTemperature(tau=2.0),
        WarmUpTemperature(factor=3.0),
    ],
    "output": [DirectOutput(), Preconditioned(), Preconditioned(differentiate=True)],
    "readout": ["mean", "first", "last"],
}
PADDED = ListOps(max_length=14, max_depth=3, n_train=64, n_test=64)

# Plain numbers alone: building a setting inside a strategy would let the shape checker draw at random.
CHOICES = st.fixed_dictionaries(
    {name: st.integers(0, len(choices) - 1) for name, choices in SLOTS.items()}
    | {
        "d_head": st.integers(3, 9),
        "n_heads": st.integers(1, 3),
        "n_layers": st.integers(1, 2),
        "d_ff": st.integers(1, 21),
        "length": st.integers(1, 13),
        "padded": st.booleans(),
        "seed": st.integers(0, 50),
        "n": st.integers(1, 35),
        "embedding_std": st.sampled_from([0.3, 1.0]),
    }
)


def group_of(choices: dict[str, Any]) -> NativeGroup:
    """Two runs of the chosen model, what is trained moved away from the start's ones and zeros."""
    d_model = choices["d_head"] * choices["n_heads"]
    model = Encoder(
        d_model=d_model + d_model % 2 * choices["n_heads"],
        **{name: choices[name] for name in ("n_heads", "n_layers", "d_ff", "embedding_std")},
        **{name: options[choices[name]] for name, options in SLOTS.items()},
    )
    length = choices["length"]
    addition = SparseModularAddition(
        modulus=3, length=length, n_terms=1, n_train=64, n_test=40, split="overlapping"
    )
    group = NativeGroup(Setting(model, 16, PADDED if choices["padded"] else addition), (choices["seed"], 77))
    state = group.state()
    random = np.random.default_rng(choices["seed"])
    trained = state["theta"][:, : group.layout.trained_size]
    trained += 0.1 * random.normal(size=trained.shape).astype(np.float32)
    group.load(state)
    return group


@settings(max_examples=60)
@given(CHOICES, st.integers(0, 1))
def test_loss_and_gradient_are_torchs(choices: dict[str, Any], run: int) -> None:
    rows = np.random.default_rng(choices["seed"]).integers(0, 64, choices["n"]).astype(np.int32)
    assert_gradient_is_torchs(group_of(choices), run, rows)


@pytest.mark.parametrize("name", SLOTS)
def test_every_choice_of_a_slot_alone_has_torchs_gradient(name: str) -> None:
    first = dict.fromkeys(SLOTS, 0)
    sizes = {
        "d_head": 4,
        "n_heads": 2,
        "n_layers": 2,
        "d_ff": 12,
        "length": 7,
        "seed": 5,
        "embedding_std": 1.0,
    }
    rows = np.arange(21, dtype=np.int32)
    for choice in range(len(SLOTS[name])):
        for padded in (False, True):
            choices = first | sizes | {name: choice, "padded": padded}
            assert_gradient_is_torchs(group_of(choices), 0, rows)


@pytest.mark.parametrize("readout", ["mean", "first", "last"])
@pytest.mark.parametrize("mechanism", [Softmax(), Causal()], ids=["full", "causal"])
def test_sequences_beyond_64_tokens_have_torchs_gradient(mechanism: Mechanism, readout: str) -> None:
    model = Encoder(d_model=8, d_ff=12, n_layers=2, mechanism=mechanism, readout=readout, embedding_std=1.0)
    rows = np.arange(19, dtype=np.int32)
    for task in (
        SparseModularAddition(length=83, n_train=40, n_test=20, split="overlapping"),
        ListOps(max_length=100, max_depth=4, n_train=64, n_test=64),
    ):
        group = NativeGroup(Setting(model, 16, task), (3,))
        assert_gradient_is_torchs(group, 0, rows)
