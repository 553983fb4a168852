"""The other starts: their distributions, what they touch, and mimetic's products."""

import math

import pytest
import torch

from sandbox.initialization.deepnorm_init import DeepNormInitialization, sublayer_gain
from sandbox.initialization.mimetic import MimeticInitialization, factors
from sandbox.initialization.normal import NormalInitialization
from sandbox.initialization.xavier import XavierInitialization
from sandbox.models.encoder import Encoder
from sandbox.tasks.sparse_modular_addition import SparseModularAddition

TASK = SparseModularAddition()
ATTENTION = {"w_query", "w_key", "w_value"}


def build(initialization=None, seed=0, **knobs):
    slots = {} if initialization is None else {"initialization": initialization}
    sizes = {"d_model": 48, "n_heads": 3, "n_layers": 2, "d_ff": 20} | knobs
    return Encoder(**sizes, **slots).build(TASK, seed)


@pytest.mark.parametrize(
    ("initialization", "touched"),
    [
        (XavierInitialization(), ATTENTION),
        (XavierInitialization(w_out=True), ATTENTION | {"w_out"}),
        (NormalInitialization(), ATTENTION | {"w_out"}),
        (NormalInitialization(w_out=False), ATTENTION),
        (MimeticInitialization(), ATTENTION | {"w_out"}),
        (DeepNormInitialization(), ATTENTION | {"w_out", "0", "2"}),
    ],
)
def test_a_start_touches_what_it_says_and_nothing_else(initialization, touched):
    standard, other = build().state_dict(), build(initialization).state_dict()
    changed = {name for name in standard if not torch.equal(standard[name], other[name])}
    assert {name.split(".")[-2] for name in changed} == touched
    assert len(changed) == 2 * len(touched) and all(name.endswith("weight") for name in changed)
    words = f"{initialization.our_reading} {initialization.sentence}"
    assert "W_O" in words


@pytest.mark.parametrize(
    ("initialization", "expected"),
    [
        (XavierInitialization(), math.sqrt(2 / 96)),
        (XavierInitialization(gain=2.0), 2 * math.sqrt(2 / 96)),
        (NormalInitialization(std=0.3), 0.3),
        (DeepNormInitialization(), math.sqrt(2 / 96)),
    ],
)
def test_queries_have_the_spread_of_the_formula(initialization, expected):
    weight = build(initialization).layers()[0].attention.w_query.weight
    assert weight.std().item() == pytest.approx(expected, rel=0.05)


def test_xavier_is_uniform_within_its_bound():
    weight = build(XavierInitialization()).layers()[0].attention.w_key.weight.abs()
    assert weight.max() <= math.sqrt(6 / 96) and weight.max() > 0.98 * math.sqrt(6 / 96)


@pytest.mark.parametrize("n_layers", [1, 4])
def test_deepnorm_makes_outputs_smaller_the_deeper_the_model(n_layers):
    beta = (8 * n_layers) ** -0.25
    assert sublayer_gain(n_layers) == pytest.approx(beta)
    layer = build(DeepNormInitialization(), n_layers=n_layers).layers()[0]
    for weight in (
        layer.attention.w_value.weight,
        layer.attention.w_out.weight,
        layer.feed_forward[0].weight,
    ):
        assert weight.std().item() == pytest.approx(beta * math.sqrt(2 / sum(weight.shape)), rel=0.08)


def test_factors_are_the_best_approximation_of_their_rank():
    product = torch.randn(7, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    values = torch.linalg.svdvals(product)
    for rank in (2, 7):
        left, right = factors(product, rank)
        assert left.shape == right.shape == (7, rank)
        error = torch.linalg.matrix_norm(product - left @ right.T)
        torch.testing.assert_close(error, values[rank:].pow(2).sum().sqrt(), rtol=0, atol=1e-10)


def test_mimetic_products_are_the_identity_where_there_is_no_noise():
    start = MimeticInitialization(alpha1=0.0, beta1=0.7, alpha2=0.0, beta2=0.4)
    attention = build(start, n_heads=1).layers()[0].attention
    with torch.no_grad():
        of_queries = attention.w_query.weight.T @ attention.w_key.weight  # W_Q W_K^T
        of_values = attention.w_value.weight.T @ attention.w_out.weight.T  # W_V W_O
    torch.testing.assert_close(of_queries, 0.7 * torch.eye(48), rtol=0, atol=1e-5)
    torch.testing.assert_close(of_values, -0.4 * torch.eye(48), rtol=0, atol=1e-5)


def test_mimetic_heads_and_layers_get_fresh_noise():
    weights = [
        part
        for layer in build(MimeticInitialization()).layers()
        for part in layer.attention.w_query.weight.chunk(3)
    ]
    assert all(not torch.allclose(a, b) for i, a in enumerate(weights) for b in weights[:i])


def test_mimetic_noise_has_variance_one_over_d():
    start = MimeticInitialization(alpha2=1.0, beta2=0.0)
    attention = build(start).layers()[0].attention
    product = attention.w_value.weight.T @ attention.w_out.weight.T
    assert product.std().item() == pytest.approx(1 / math.sqrt(48), rel=0.05)


@pytest.mark.parametrize(
    "start",
    [XavierInitialization(), NormalInitialization(), MimeticInitialization(), DeepNormInitialization()],
)
def test_the_start_depends_on_the_seed_alone(start):
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = build(start).state_dict()
    assert torch.equal(before, torch.get_rng_state())
    torch.manual_seed(2)
    again, other = build(start).state_dict(), build(start, seed=1).state_dict()
    assert all(torch.equal(first[name], again[name]) for name in first)
    name = "blocks.0.attention.w_query.weight"
    assert not torch.equal(first[name], other[name])
