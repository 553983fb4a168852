"""What a run carries on from step to step is, of its weights, what torch and NumPy make of them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.conditioning.projection.sigma_reparam import SigmaReparam
from sandbox.conditioning.projection.spectral_svd import SpectralSvd
from sandbox.conditioning.temperature.warm_up import WarmUpScale, WarmUpTemperature
from sandbox.engine.native.group import NativeGroup
from sandbox.engine.optimizer import Adam, AdamW
from sandbox.mathematics.spectral import svd_correction
from sandbox.models.encoder import Encoder
from sandbox.tasks.sparse_modular_addition import SparseModularAddition
from tests.engine.arms import Setting
from tests.engine.test_torch_engine import same

TASK = SparseModularAddition(length=6, n_terms=3, n_train=64, n_test=32, split="overlapping")
ATTENTION = "blocks.0.attention."


def group_of(learning_rate: float = 1e-2, **slots: Any) -> NativeGroup:
    """One small encoder, trained for a while where the rate is not 0."""
    model = Encoder(d_model=12, d_ff=8, **slots)
    return NativeGroup(Setting(model, 16, TASK, AdamW(learning_rate=learning_rate)), (3,))


def parts(group: NativeGroup) -> dict[str, np.ndarray]:
    """A run's numbers by name."""
    return {name: value[0] for name, value in group.layout.unflatten(group.theta()).items()}


@pytest.mark.parametrize(("heads", "n_blocks"), [("each head", 2), ("packed", 1)])
def test_lifted_singular_values_follow_the_weights_when_it_is_time(heads: str, n_blocks: int):
    group = group_of(projection=SpectralSvd(heads=heads, every=4))
    group.advance(8)
    at_8 = parts(group)
    for which in ("query", "key", "value"):
        blocks = at_8[f"{ATTENTION}w_{which}.weight"].reshape(n_blocks, -1, 12)
        expected = svd_correction(blocks).reshape(12, 12)
        np.testing.assert_allclose(at_8[f"{ATTENTION}correct_{which}.correction"], expected, atol=2e-6)
    group.advance(3)
    at_11 = parts(group)
    name = f"{ATTENTION}correct_query.correction"
    assert same(at_11[name], at_8[name])
    assert not same(at_11[f"{ATTENTION}w_query.weight"], at_8[f"{ATTENTION}w_query.weight"])
    group.advance(1)
    assert not same(parts(group)[name], at_8[name])


def corrected(weight: np.ndarray) -> np.ndarray:
    """What the kernels add to a packed W_Q (12, 12)."""
    group = group_of(0.0, projection=SpectralSvd(heads="packed"))
    state = group.state()
    group.layout.unflatten(state["theta"])[f"{ATTENTION}w_query.weight"][0] = weight
    group.load(state)
    group.advance(1)
    return parts(group)[f"{ATTENTION}correct_query.correction"]


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.floats(0.0, 5.0), st.floats(-6.0, 6.0))
def test_every_matrix_gets_the_correction_of_its_singular_values(
    seed: int, digits: float, size: float
) -> None:
    random = np.random.default_rng(seed)
    u, _, vh = np.linalg.svd(random.normal(size=(12, 12)))
    values = 10.0 ** (size - np.sort(random.uniform(0, digits, 12)))
    weight = ((u * values) @ vh).astype(np.float32)
    expected = svd_correction(weight)
    # U V^T moves by a rounding of W over its smallest singular value; the correction is exact to float32.
    np.testing.assert_allclose(corrected(weight), expected, rtol=0, atol=3e-7 * np.abs(expected).max())


def test_matrices_of_equal_or_no_singular_values_are_corrected_as_well():
    np.testing.assert_allclose(corrected(3 * np.eye(12, dtype=np.float32)), 3 * np.eye(12), atol=1e-6)
    assert same(corrected(np.zeros((12, 12), np.float32)), np.zeros((12, 12), np.float32))
    tiny = 1e-30 * np.eye(12, dtype=np.float32)
    np.testing.assert_allclose(corrected(tiny), tiny, rtol=1e-6)


def test_a_run_that_has_diverged_gets_no_correction_as_with_torch():
    weight = np.full((12, 12), np.nan, np.float32)
    assert same(corrected(weight), np.zeros((12, 12), np.float32))


def test_singular_vectors_move_by_one_power_iteration_a_step():
    group = group_of(projection=SigmaReparam(key=False))
    group.advance(5)
    before = parts(group)
    group.advance(1)
    after = parts(group)
    for which in ("query", "value"):
        weight, u = after[f"{ATTENTION}w_{which}.weight"], before[f"{ATTENTION}correct_{which}.u"]
        v = weight.T.astype(np.float64) @ u
        v /= np.linalg.norm(v)
        u = weight @ v
        np.testing.assert_allclose(after[f"{ATTENTION}correct_{which}.v"], v, atol=1e-6)
        np.testing.assert_allclose(after[f"{ATTENTION}correct_{which}.u"], u / np.linalg.norm(u), atol=1e-6)
        assert after[f"{ATTENTION}correct_{which}.gamma"] != 1
    assert f"{ATTENTION}correct_key.u" not in after


def test_the_temperature_of_a_step_stands_in_its_row():
    group = group_of(temperature=WarmUpTemperature(factor=5.0, steps=9))
    scale = group.setting.model.temperature.build(6)  # type: ignore[attr-defined]
    assert isinstance(scale, WarmUpScale)
    for step in range(12):
        assert parts(group)[f"{ATTENTION}scale.scale"] == np.float32(scale.at(step))
        group.advance(1)


def test_decay_and_penalty_leave_what_is_carried_alone():
    slots = {"projection": SpectralSvd(every=1000), "temperature": WarmUpTemperature(steps=1)}
    for optimizer in (Adam(weight_decay=5.0), AdamW(weight_decay=5.0, clip_norm=0.1)):
        model = Encoder(d_model=12, d_ff=8, **slots)
        group = NativeGroup(Setting(model, 16, TASK, optimizer), (3,))
        group.advance(1)
        before = parts(group)
        group.advance(6)
        after = parts(group)
        moved = {name for name in before if not same(before[name], after[name])}
        assert set(group.layout.carried).isdisjoint(moved) and len(moved) > 10
        assert not group.state()["exp_avg"][:, group.layout.trained_size :].any()
