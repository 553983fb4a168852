"""The visual model's hand-written gradient against torch's, over random models, weights and batches."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.engine.native.group import NativeGroup
from sandbox.models.visual_model import VisualModel
from sandbox.tasks.sparse_modular_addition import SparseModularAddition
from tests.engine.arms import Setting
from tests.engine.native.oracles import assert_gradient_is_torchs, by_torch

FACTORS = st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=8, max_size=8)


# Plain numbers alone: building a setting inside a strategy would let the shape checker draw at random.
SIZES = st.fixed_dictionaries(
    {
        "modulus": st.integers(2, 7),
        "length": st.integers(1, 40),
        "n_terms": st.integers(1, 40),
        "d_model": st.sampled_from([2, 3, 5, 8, 16]),
        "d_ff": st.integers(1, 70),
        "spare": st.integers(0, 3),
    }
)


def setting_of(sizes: dict[str, int]) -> Setting:
    """The visual model on overlapping data, with some embeddings to spare."""
    modulus, length = sizes["modulus"], sizes["length"]
    model = VisualModel(d_model=sizes["d_model"], d_ff=sizes["d_ff"], n_embeddings=modulus + sizes["spare"])
    n_terms = min(sizes["n_terms"], length)
    task = SparseModularAddition(
        modulus=modulus, length=length, n_terms=n_terms, n_train=60, n_test=40, split="overlapping"
    )
    return Setting(model, 16, task)


def with_weights_scaled(setting: Setting, seed: int, factors: list[float]) -> NativeGroup:
    """A group of two runs whose parameters are drawn and then scaled, each by its factor."""
    group = NativeGroup(setting, (seed, 100))
    state = group.state()
    for part, factor in zip(group.layout.unflatten(state["theta"]).values(), factors, strict=True):
        part *= factor
    group.load(state)
    return group


@settings(max_examples=60)
@given(SIZES, FACTORS, st.integers(0, 1), st.integers(1, 50), st.integers(0, 99))
def test_loss_and_gradient_are_torchs(
    sizes: dict[str, int], factors: list[float], run: int, n: int, seed: int
) -> None:
    group = with_weights_scaled(setting_of(sizes), seed, factors)
    rows = np.random.default_rng(seed).integers(0, 60, n).astype(np.int32)
    assert_gradient_is_torchs(group, run, rows)


def test_tokens_beyond_the_modulus_get_their_gradient_from_the_classes_alone():
    setting = Setting(VisualModel(n_embeddings=4), 16, SparseModularAddition(n_train=60, n_test=40))
    group = NativeGroup(setting, (0,))
    rows = np.arange(60, dtype=np.int32)
    _, gradient = group.gradient(0, rows)
    of_tokens = group.layout.unflatten(gradient[None])["tokens"][0]
    assert np.abs(of_tokens[2:]).max() > 0
    np.testing.assert_allclose(gradient, by_torch(group, 0, rows)[1], rtol=0, atol=1e-6)


def test_a_row_twice_in_a_batch_counts_twice():
    group = NativeGroup(Setting(VisualModel(), 16), (0,))
    once, twice, other = (group.gradient(0, np.array(rows, np.int32))[1] for rows in ([5], [5, 5, 9], [9]))
    np.testing.assert_allclose(twice, (2 * once + other) / 3, rtol=1e-4, atol=1e-7)


def test_the_kernels_know_long_sequences_and_wide_feed_forward_parts():
    task = SparseModularAddition(length=128, n_train=40, n_test=20, split="overlapping")
    setting = replace(Setting(VisualModel(d_model=64, d_ff=300), 16), task=task)
    group = NativeGroup(setting, (3,))
    rows = np.arange(33, dtype=np.int32)
    assert_gradient_is_torchs(group, 0, rows)
