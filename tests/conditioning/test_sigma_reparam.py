"""sigma-Reparam: the largest singular value is gamma, and power iteration keeps up with training."""

import numpy as np
import pytest
import torch

from sandbox.conditioning.projection.sigma_reparam import SigmaReparam
from sandbox.mathematics.condition import condition_number
from tests.test_contracts import group


def settled(weight, **knobs):
    module = SigmaReparam(**knobs).build(weight.shape[0], 2, "query").to(weight.dtype)
    with torch.no_grad():
        for name, value in module.renewed(weight, 0).items():
            getattr(module, name).copy_(value)
    return module


def test_the_oracle_matrix_is_divided_by_its_largest_singular_value():
    weight = torch.tensor([[3.0, 0], [4, 5]], dtype=torch.float64)
    torch.testing.assert_close(settled(weight)(weight), weight / 6.7082039325, rtol=0, atol=1e-10)


def test_gamma_is_trained_and_its_gradient_is_that_of_finite_differences():
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(5, 5, generator=generator, dtype=torch.float64).requires_grad_()
    module = settled(weight.detach())
    assert [name for name, value in module.named_parameters() if value.requires_grad] == ["gamma"]
    gamma = module.gamma.detach().clone().requires_grad_()

    def corrected(w, g):
        return torch.func.functional_call(module, {"gamma": g}, (w,))

    assert torch.autograd.gradcheck(corrected, (weight, gamma))


def test_the_condition_number_stays_what_it_is():
    weight = torch.randn(6, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    after = settled(weight)(weight).detach()
    assert condition_number(after.numpy()) == pytest.approx(condition_number(weight.numpy()), rel=1e-10)


def test_one_power_iteration_is_the_formula():
    weight = torch.randn(6, 6, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    module = settled(weight)
    moved = weight + 0.1 * torch.eye(6)
    u, w = module.u.detach().numpy(), moved.numpy()
    v = w.T @ u
    v /= np.linalg.norm(v)
    expected = w @ v / np.linalg.norm(w @ v)
    renewed = module.renewed(moved, 1)
    np.testing.assert_allclose(renewed["v"].numpy(), v, atol=1e-12)
    np.testing.assert_allclose(renewed["u"].numpy(), expected, atol=1e-12)


def test_training_keeps_the_largest_singular_value_at_gamma():
    trained = group(arm="sigma-reparam", optimizer="adamw")
    trained.advance(4)
    parameters = trained.layout.unflatten(trained.theta())
    packed = np.concatenate(list(np.moveaxis(trained.projections()["query"][:, 0], 1, 0)), axis=-1)
    gamma = parameters["blocks.0.attention.correct_query.gamma"]
    np.testing.assert_allclose(np.linalg.norm(packed, 2, axis=(-2, -1)), gamma, rtol=1e-3)
    assert not np.array_equal(gamma, np.ones_like(gamma))
