"""Normalization placements: the formulas of each, both norms, and what DeepNorm scales."""

import pytest
import torch

from sandbox.models.encoder import Encoder
from sandbox.models.placement.deepnorm import DeepNorm, residual_gain
from sandbox.models.placement.no_norm import NoNormalization
from sandbox.models.placement.post_ln import PostLN
from sandbox.models.placement.pre_ln import PreLN
from sandbox.tasks.sparse_modular_addition import SparseModularAddition

TASK = SparseModularAddition()
X = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def model(placement, n_layers=2):
    return (
        Encoder(d_model=8, n_heads=2, n_layers=n_layers, d_ff=6, placement=placement).build(TASK, 0).double()
    )


def layer_norm(x):
    return torch.nn.functional.layer_norm(x, (8,))


def rms_norm(x):
    return torch.nn.functional.rms_norm(x, (8,), eps=1e-5)


def by_formula(block, placement, x, norm, alpha):
    attend, feed = (lambda y: block.attention(y, None)), block.feed_forward
    if isinstance(placement, PreLN):
        x = x + attend(norm(x))
        return x + feed(norm(x))
    if isinstance(placement, NoNormalization):
        x = x + attend(x)
        return x + feed(x)
    x = norm(alpha * x + attend(x))
    return norm(alpha * x + feed(x))


@pytest.mark.parametrize("norm", ["layer norm", "rms norm"])
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize(("kind", "alpha"), [(PreLN, 1.0), (PostLN, 1.0), (DeepNorm, 4**0.25)])
def test_each_block_is_its_formula(kind, alpha, norm, affine):
    placement = kind(norm=norm, affine=affine)
    block = model(placement).layers()[0]
    function = layer_norm if norm == "layer norm" else rms_norm
    torch.testing.assert_close(
        block(X, None), by_formula(block, placement, X, function, alpha), rtol=0, atol=1e-10
    )


def test_without_normalization_sublayers_are_added():
    block = model(NoNormalization()).layers()[0]
    expected = by_formula(block, NoNormalization(), X, None, 1.0)
    torch.testing.assert_close(block(X, None), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("placement", "n_norms", "per_norm"),
    [
        (PreLN(), 5, 16),
        (PreLN(norm="rms norm"), 5, 8),
        (PreLN(affine=False), 5, 0),
        (PostLN(), 4, 16),
        (DeepNorm(norm="rms norm"), 4, 8),
        (NoNormalization(), 0, 0),
    ],
)
def test_only_trained_gains_are_parameters(placement, n_norms, per_norm):
    built = model(placement)
    norms = [m for m in built.modules() if isinstance(m, torch.nn.LayerNorm | torch.nn.RMSNorm)]
    assert len(norms) == n_norms
    assert sum(p.numel() for norm in norms for p in norm.parameters()) == n_norms * per_norm


def test_deepnorms_residual_gain_is_that_of_the_paper():
    assert residual_gain(1) == pytest.approx(2**0.25)
    assert residual_gain(8) == pytest.approx(2.0)


def test_the_other_weights_start_alike_under_every_placement():
    standard = dict(model(PreLN()).named_parameters())
    for placement in (PostLN(), DeepNorm(), NoNormalization(), PreLN(norm="rms norm")):
        for name, value in model(placement).named_parameters():
            assert "norm" in name or name.startswith("final") or torch.equal(value, standard[name])
