"""Preconditioned attention: unit rows, both gradients in closed form, and zero rows."""

import pytest
import torch

from sandbox.conditioning.output.preconditioned import EquilibrateRows, Preconditioned
from sandbox.mathematics.preconditioning import equilibrate_rows


def test_the_oracle_rows():
    rows = torch.tensor([[3.0, 4.0], [0.0, 2.0]], dtype=torch.float64)[None, None]
    expected = torch.tensor([[0.6, 0.8], [0.0, 1.0]], dtype=torch.float64)
    torch.testing.assert_close(Preconditioned().build()(rows)[0, 0], expected)


def test_agrees_with_the_mathematics():
    a = torch.randn(2, 3, 7, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    expected = torch.from_numpy(equilibrate_rows(a.numpy()))
    torch.testing.assert_close(EquilibrateRows(False)(a), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("differentiate", [False, True])
def test_gradients_are_those_of_the_closed_forms(differentiate):
    generator = torch.Generator().manual_seed(1)
    a = torch.randn(1, 1, 7, 5, generator=generator, dtype=torch.float64, requires_grad=True)
    g = torch.randn(1, 1, 7, 5, generator=generator, dtype=torch.float64)
    (gradient,) = torch.autograd.grad(EquilibrateRows(differentiate)(a), a, g)
    length = a.detach().norm(dim=-1, keepdim=True)
    unit = a.detach() / length
    projected = g - unit * (unit * g).sum(-1, keepdim=True) if differentiate else g
    torch.testing.assert_close(gradient, projected / length)


@pytest.mark.parametrize("differentiate", [False, True])
def test_a_zero_row_stays_zero_with_a_finite_gradient(differentiate):
    a = torch.zeros(1, 1, 2, 3, requires_grad=True)
    out = EquilibrateRows(differentiate)(a)
    (gradient,) = torch.autograd.grad(out.sum(), a)
    assert torch.equal(out, torch.zeros_like(out)) and gradient.isfinite().all()
