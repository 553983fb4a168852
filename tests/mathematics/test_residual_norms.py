"""Norms of the residual stream: oracles, autodiff, and bounds that hold."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sandbox.mathematics.block_norm import block_norm, multi_head_bound, operator_norm_at_least
from sandbox.mathematics.deep_norm import update_budget, xavier_gain
from sandbox.mathematics.layer_norm import (
    layer_norm_jacobian,
    layer_norm_norm_bound,
    steepest_layer_norm,
)

TOKEN = np.array([1.0, 2.0, 4.0, 7.0])


def test_the_layer_norm_oracle() -> None:
    jacobian = layer_norm_jacobian(TOKEN, np.ones(4))
    assert np.linalg.norm(jacobian, 2) == pytest.approx(0.4364357805, abs=1e-9)
    assert layer_norm_norm_bound(TOKEN, np.ones(4)) == pytest.approx(0.4364357805, abs=1e-9)


@given(st.integers(0, 40))
def test_the_layer_norm_jacobian_is_autodiffs_and_stays_below_its_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, gain = rng.standard_normal(6), rng.standard_normal(6)
    norm = torch.nn.LayerNorm(6, dtype=torch.float64)
    norm.weight.data = torch.from_numpy(gain)
    expected = torch.autograd.functional.jacobian(norm, torch.from_numpy(x)).numpy()
    found = layer_norm_jacobian(x, gain, norm.eps)
    assert found == pytest.approx(expected, abs=1e-10)
    assert np.linalg.norm(found, 2) <= layer_norm_norm_bound(x, gain, norm.eps) * (1 + 1e-12)


@given(st.integers(0, 40))
def test_the_rms_norm_jacobian_is_autodiffs_and_stays_below_its_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, gain = rng.standard_normal(6), rng.standard_normal(6)
    norm = torch.nn.RMSNorm(6, eps=1e-5, dtype=torch.float64)
    norm.weight.data = torch.from_numpy(gain)
    expected = torch.autograd.functional.jacobian(norm, torch.from_numpy(x)).numpy()
    found = layer_norm_jacobian(x, gain, 1e-5, centred=False)
    assert found == pytest.approx(expected, abs=1e-10)
    assert np.linalg.norm(found, 2) <= layer_norm_norm_bound(x, gain, 1e-5, centred=False) * (1 + 1e-12)


@given(st.integers(0, 40), st.booleans())
def test_the_steepest_token_is_found_without_looking_at_all(seed: int, centred: bool) -> None:
    rng = np.random.default_rng(seed)
    x, gain = rng.standard_normal((9, 5)) * rng.uniform(0.2, 3, (9, 1)), rng.standard_normal(5)
    norms = [np.linalg.norm(layer_norm_jacobian(row, gain, 1e-5, centred=centred), 2) for row in x]
    assert steepest_layer_norm(x, gain, 1e-5, centred=centred) == pytest.approx(max(norms), rel=1e-12)
    assert np.isnan(steepest_layer_norm(np.where(x == x[3], np.nan, x), gain, 1e-5, centred=centred))


@pytest.mark.parametrize("n_layers", [1, 2, 6, 100])
def test_deepnorms_gains_set_the_update_budget_to_one_and_xavier_post_ln_to_four_per_layer(
    n_layers: int,
) -> None:
    beta, alpha = (8 * n_layers) ** -0.25, (2 * n_layers) ** 0.25
    assert update_budget(np.array(beta), np.array(beta), alpha, n_layers) == pytest.approx(1.0)
    assert update_budget(np.ones(1), np.ones(1), 1.0, n_layers) == pytest.approx(4.0 * n_layers)


@pytest.mark.parametrize("gain", [1.0, 0.3])
def test_the_gain_over_xavier_is_what_xaviers_start_was_given(gain: float) -> None:
    weight = torch.empty(300, 200, dtype=torch.float64)
    torch.nn.init.xavier_normal_(weight, gain, generator=torch.Generator().manual_seed(0))
    assert xavier_gain(weight.numpy()) == pytest.approx(gain, rel=0.01)


@pytest.mark.parametrize("n_tokens", [2, 5, 9])
def test_the_norm_between_single_numbers_is_brute_force_over_all_sign_vectors(n_tokens: int) -> None:
    """One channel a token: |x|_inf in and out, whose unit ball has the sign vectors as corners."""
    rng = np.random.default_rng(n_tokens)
    p = rng.dirichlet(np.ones(n_tokens))
    signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * n_tokens)).reshape(n_tokens, -1)
    for matrix in (rng.standard_normal((n_tokens, n_tokens)), np.diag(p) - np.outer(p, p)):
        brute = np.abs(matrix @ signs).max()
        found = operator_norm_at_least(
            lambda s, m=matrix: m @ s, lambda s, m=matrix: m.T @ s, rng.standard_normal((6, n_tokens, 1)), 8
        )
        assert found == pytest.approx(brute, rel=1e-12)
        assert block_norm((matrix @ signs).T[..., None]).max() == pytest.approx(brute, rel=1e-12)


@given(st.integers(0, 40))
def test_mixing_by_rows_of_probabilities_has_norm_at_most_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, x = rng.dirichlet(np.ones(5), size=5), rng.standard_normal((5, 3))
    assert block_norm(p @ x) <= block_norm(x) * (1 + 1e-12)
    found = operator_norm_at_least(lambda s: p @ s, lambda s: p.T @ s, rng.standard_normal((4, 5, 3)), 5)
    assert found == pytest.approx(1.0)


@given(st.integers(0, 30))
def test_power_iteration_finds_the_norm_of_two_tokens_in_the_plane_from_below(seed: int) -> None:
    rng = np.random.default_rng(seed)
    operator = rng.standard_normal((2, 2, 2, 2))  # out token, out channel, in token, in channel
    found = operator_norm_at_least(
        lambda s: np.einsum("icjd,sjd->sic", operator, s),
        lambda s: np.einsum("icjd,sic->sjd", operator, s),
        rng.standard_normal((8, 2, 2)),
        30,
    )
    # For output token i and direction v the best input gives |block_1^T v| + |block_2^T v|.
    angles = np.linspace(0, np.pi, 4001)
    v = np.stack([np.cos(angles), np.sin(angles)])
    brute = max(
        sum(np.linalg.norm(operator[i, :, j].T @ v, axis=0) for j in range(2)).max() for i in range(2)
    )
    assert brute * 0.97 <= found <= brute * (1 + 1e-5)


@given(st.integers(0, 40))
def test_the_multi_head_bound_holds_for_one_softmax_head(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d, h, scale = 4, 3, 2, 0.7
    x, wo = rng.standard_normal((n, d)), rng.standard_normal((h, d))
    wq, wk, wv = (rng.standard_normal((d, h)) for _ in range(3))

    def layer(t: torch.Tensor) -> torch.Tensor:
        q, k, v, o = (torch.from_numpy(w) for w in (wq, wk, wv, wo))
        return torch.softmax(scale * (t @ q) @ (t @ k).T, dim=-1) @ (t @ v) @ o

    jacobian = torch.autograd.functional.jacobian(layer, torch.from_numpy(x)).numpy()
    found = operator_norm_at_least(
        lambda s: np.einsum("icjd,sjd->sic", jacobian, s),
        lambda s: np.einsum("icjd,sic->sjd", jacobian, s),
        rng.standard_normal((6, n, d)),
        10,
    )
    norms = [np.array([np.linalg.norm(w, 2)]) for w in (wv, wq, wk)]
    bound = multi_head_bound(
        np.asarray(np.linalg.norm(wo, 2)), *norms, np.ones(1), np.array([scale]), np.asarray(block_norm(x)), d
    )
    assert 0 < found <= bound
