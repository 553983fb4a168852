"""Spectral conditioning: the oracle corrections, both readings of heads, and lambda = 0."""

import pytest
import torch

from sandbox.conditioning.projection.spectral import PAPER_SHIFT, SpectralConditioning
from sandbox.mathematics.condition import condition_number
from sandbox.mathematics.spectral import identity_correction


def corrected(weight, n_heads=1, which="query", **knobs):
    module = SpectralConditioning(**knobs).build(weight.shape[0], n_heads, which)
    return module(weight)


def test_the_oracle_matrices_become_better_conditioned():
    for matrix, before, after in (
        ([[3.0, 0], [0, 1], [0, 0]], 3.0, 1.1818181818),
        ([[1.0, 2], [3, 4], [5, 6]], 18.5213053413, 1.7882088852),
    ):
        w = torch.tensor(matrix, dtype=torch.float64).numpy()
        assert condition_number(w) == pytest.approx(before, abs=1e-8)
        assert condition_number(w + identity_correction(w, PAPER_SHIFT)) == pytest.approx(after, abs=1e-8)


def test_fused_shifts_the_packed_diagonal():
    weight = torch.arange(36.0).reshape(6, 6)
    assert torch.equal(corrected(weight, 3, shift=2.0) - weight, 2 * torch.eye(6))


def test_first_gives_every_head_the_leading_channels():
    weight = torch.zeros(6, 6)
    changed = corrected(weight, 3, shift=2.0, heads="first")
    for head in changed.split(2):  # rows of one head, transposed against the paper's D x d matrix
        assert torch.equal(head.T, 2 * torch.eye(6, 2))


def test_fused_and_first_are_the_mathematics_correction_of_each_head():
    weight = torch.randn(6, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    head = weight[:2].T.numpy()  # D x d, the first head
    expected = torch.from_numpy(head + identity_correction(head, 0.5))
    for heads in ("fused", "first"):
        torch.testing.assert_close(corrected(weight, 3, heads=heads)[:2].T, expected)


def test_a_shift_of_zero_leaves_every_bit():
    weight = torch.randn(8, 8, generator=torch.Generator().manual_seed(0))
    for heads in ("fused", "first"):
        assert torch.equal(corrected(weight, 2, shift=0.0, heads=heads), weight)


@pytest.mark.parametrize("which", ["query", "key", "value"])
def test_each_projection_can_be_left_out(which):
    weight = torch.zeros(4, 4)
    assert torch.equal(corrected(weight, which=which, **{which: False}), weight)
    others = {"query", "key", "value"} - {which}
    assert all(corrected(weight, which=other, **{which: False}).any() for other in others)


def test_the_correction_is_not_trained():
    module = SpectralConditioning().build(4, 2, "value")
    assert not list(module.parameters()) and not module.state_dict()
