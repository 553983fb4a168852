"""Spectral conditioning by SVD: the oracle kappas, what is corrected, and when C is computed anew."""

import numpy as np
import pytest
import torch

from sandbox.conditioning.projection.spectral_svd import SpectralSvd
from sandbox.mathematics.condition import condition_number
from sandbox.mathematics.spectral import svd_correction
from sandbox.models.encoder import Encoder
from sandbox.tasks.sparse_modular_addition import SparseModularAddition
from tests.test_contracts import group


def corrected(weight, n_heads=1, which="query", **knobs):
    module = SpectralSvd(**knobs).build(weight.shape[0], n_heads, which).to(weight.dtype)
    with torch.no_grad():
        for name, value in module.renewed(weight, 0).items():
            getattr(module, name).copy_(value)
    return module(weight)


def random(rows, columns, seed=0):
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize(
    ("matrix", "kappa"),
    [([[3.0, 0], [0, 1], [0, 0]], 1.5), ([[1.0, 2], [3, 4], [5, 6]], 1.8975478348)],
)
def test_the_oracle_matrices_get_two_kappa_over_kappa_plus_one(matrix, kappa):
    w = np.array(matrix)
    assert condition_number(w + svd_correction(w)) == pytest.approx(kappa, abs=1e-8)
    # The same D x d matrix as one head's rows: the second head is there to make the packed matrix square.
    packed = torch.zeros(4, 4, dtype=torch.float64)
    packed[:2, :3], packed[2:, 2:] = torch.from_numpy(w.T), torch.eye(2)
    assert condition_number(corrected(packed, n_heads=2)[:2].numpy()) == pytest.approx(kappa, abs=1e-8)


@pytest.mark.parametrize(("heads", "n_blocks"), [("each head", 3), ("packed", 1)])
def test_every_chosen_block_has_the_closed_form_and_the_mathematics_correction(heads, n_blocks):
    weight = random(12, 12)
    after = corrected(weight, 3, heads=heads)
    for before, block in zip(weight.chunk(n_blocks), after.chunk(n_blocks), strict=True):
        kappa = condition_number(before.numpy())
        assert condition_number(block.numpy()) == pytest.approx(2 * kappa / (kappa + 1), rel=1e-10)
        expected = before.numpy() + svd_correction(before.numpy())
        np.testing.assert_allclose(block.numpy(), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("which", ["query", "key", "value"])
def test_each_projection_can_be_left_out(which):
    assert isinstance(SpectralSvd(**{which: False}).build(4, 2, which), torch.nn.Identity)


def test_the_correction_is_not_differentiated():
    weight = random(6, 6).requires_grad_()
    corrected(weight, 2).sum().backward()
    assert torch.equal(weight.grad, torch.ones_like(weight))


def test_gradients_of_a_model_agree_with_finite_differences():
    model = Encoder(d_model=4, n_heads=2, d_ff=3, projection=SpectralSvd()).build(
        SparseModularAddition(length=4, n_terms=2, n_train=8, n_test=4), 0
    )
    model.double()
    attention, x = model.layers()[0].attention, random(3, 4)[None]

    def out(weight):
        return torch.func.functional_call(attention, {"w_query.weight": weight}, (x, None))

    assert torch.autograd.gradcheck(out, (attention.w_query.weight.detach().requires_grad_(),))


def test_every_stored_step_has_condition_numbers_below_two():
    trained = group(arm="spectral-svd")
    trained.advance(3)
    assert (condition_number(trained.projections()["key"]) <= 2.0 + 1e-5).all()


def test_every_k_steps_means_that_c_waits():
    trained = group(arm="spectral-svd:every=3")
    seen = []
    for _ in range(4):
        correction = trained.layout.unflatten(trained.theta())["blocks.0.attention.correct_key.correction"]
        seen.append(correction.copy())
        trained.advance(1)
    assert np.array_equal(seen[0], seen[1]) and np.array_equal(seen[0], seen[2])
    assert not np.array_equal(seen[2], seen[3])


def test_a_run_that_has_diverged_stops_nobody():
    module = SpectralSvd().build(4, 2, "key")
    renewed = module.renewed(torch.full((4, 4), float("nan")), 1)
    assert torch.isfinite(renewed["correction"]).all()
