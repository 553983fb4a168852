"""Norms of the residual stream: oracles, autodiff, and bounds that hold."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sandbox.mathematics.block_norm import block_norm, multi_head_bound, operator_norm_at_least
from sandbox.mathematics.layer_norm import layer_norm_jacobian, layer_norm_norm_bound

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
