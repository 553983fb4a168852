"""Every mechanism against loops written from its formula, and what padding and batches may not do to it."""

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from sandbox.attention import Mechanism
from sandbox.attention.skeleton import MultiHeadAttention
from sandbox.conditioning.output.direct import DirectOutput
from sandbox.conditioning.output.preconditioned import Preconditioned
from sandbox.conditioning.projection.plain import PlainProjection
from sandbox.foundations.probes import Probe, recording
from tests.attention.references import CASES

BATCH, HEADS, TOKENS, D_HEAD = 3, 2, 7, 5
LENGTHS = (7, 4, 1)
EQUIVARIANT = {"softmax", "cross-covariance", "dual-axis, channels", "dual-axis, DaViT's order", "linear"}
SAME_AS_SOFTMAX = {"window of the whole length", "nystrom, landmarks = length"}


def random(*shape, seed=1, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def qkv(seed=1):
    return tuple(1.5 * random(BATCH, HEADS, TOKENS, D_HEAD, seed=seed + i) for i in range(3))


def visible_keys():
    return torch.arange(TOKENS)[None] < torch.tensor(LENGTHS)[:, None]


def module(name):
    """The case's module in float64, its own parameters drawn at random."""
    settings, layer, _ = CASES[name]
    built = settings.build(D_HEAD, HEADS, layer).double()
    with torch.no_grad():
        for i, parameter in enumerate(built.parameters()):
            parameter.copy_(1 + 0.5 * random(*parameter.shape, seed=50 + i))
    return built


def attend(built, q, k, v, visible=None):
    return built(q, k, v, visible, Probe(), Probe())


def layer_of(name, output=None, dtype=torch.float32):
    settings, layer, _ = CASES[name]
    torch.manual_seed(0)
    built = MultiHeadAttention(
        HEADS * 4, HEADS, settings, PlainProjection(), output or DirectOutput(), layer=layer
    ).to(dtype)
    with torch.no_grad():
        built.w_query.weight *= 3
        built.w_key.weight *= 3
    return built


def test_every_mechanism_has_a_reference():
    assert {settings.kind for settings, _, _ in CASES.values()} == set(Mechanism.variants)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_agrees_with_loops_written_from_the_formula(name, masked):
    """With padding the answer is that of the sequence without its padding."""
    built, reference = module(name), CASES[name][2]
    q, k, v = qkv()
    found = attend(built, q, k, v, visible_keys() if masked else None).detach().numpy()
    for sequence in range(BATCH):
        n = LENGTHS[sequence] if masked else TOKENS
        if masked and "nystrom" in name and n < CASES[name][0].landmarks < TOKENS:
            continue  # fewer tokens than landmarks: see test_nystrom.py
        for head in range(HEADS):
            more = {"temperature": built.temperature[head].item()} if name == "cross-covariance" else {}
            one = (x[sequence, head, :n].numpy() for x in (q, k, v))
            expected = reference(*one, length=TOKENS, **more)
            np.testing.assert_allclose(found[sequence, head, :n], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["softmax", "causal", *sorted(SAME_AS_SOFTMAX)])
def test_agrees_with_torchs_own_attention(name):
    q, k, v = qkv()
    expected = scaled_dot_product_attention(q, k, v, is_causal=name == "causal")
    torch.testing.assert_close(attend(module(name), q, k, v), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_gradients_are_finite_differences(name, masked):
    built, visible = module(name), visible_keys()[1:2] if masked else None
    n_heads = HEADS if list(built.parameters()) else 1
    inputs = [x[1:2, :n_heads].clone().requires_grad_() for x in qkv()]
    own = list(built.parameters())

    def seen(q, k, v, *_):
        mixed, skip = attend(built, q, k, v, visible), built.skip(v, visible)
        out = mixed if skip is None else mixed + skip
        return out if visible is None else out[visible[:, None].expand(out.shape[:3])]

    assert torch.autograd.gradcheck(seen, (*inputs, *own), atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_moves_with_its_tokens_exactly_where_it_should(name):
    q, k, v = qkv()
    order = torch.tensor([3, 0, 6, 1, 5, 2, 4])
    built = module(name)
    moved = attend(built, *(x[:, :, order] for x in (q, k, v)))
    same = torch.allclose(moved, attend(built, q, k, v)[:, :, order], rtol=0, atol=1e-10)
    assert same == (name in EQUIVARIANT | SAME_AS_SOFTMAX)


@pytest.mark.parametrize("name", CASES)
def test_padding_influences_no_visible_token_to_the_bit(name):
    layer, visible = layer_of(name), visible_keys()
    x = random(BATCH, TOKENS, HEADS * 4, dtype=torch.float32)
    other = torch.where(visible[..., None], x, 9 * random(*x.shape, seed=2, dtype=torch.float32))
    first, second = layer(x, visible), layer(other, visible)
    assert torch.equal(first[visible], second[visible])
    assert first.isfinite().all() and second.isfinite().all()


@pytest.mark.parametrize("differentiate", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_padding_gets_no_gradient_and_brings_no_nan(name, differentiate):
    layer, visible = layer_of(name, Preconditioned(differentiate=differentiate)), visible_keys()
    x = random(BATCH, TOKENS, HEADS * 4, dtype=torch.float32).requires_grad_()
    (layer(x, visible) * visible[..., None]).sum().backward()
    assert (x.grad[~visible] == 0).all()
    assert all(parameter.grad.isfinite().all() for parameter in layer.parameters())


@pytest.mark.parametrize("name", CASES)
def test_a_sequence_never_feels_its_neighbours_in_the_batch(name):
    layer, x = layer_of(name), random(BATCH, TOKENS, HEADS * 4, dtype=torch.float32)
    other = x.clone()
    other[0] *= 5
    assert torch.equal(layer(x, None)[1:], layer(other, None)[1:])


@pytest.mark.parametrize("changed", range(1, TOKENS))
def test_causal_attention_leaks_nothing_to_the_bit(changed):
    layer, x = layer_of("causal"), random(BATCH, TOKENS, HEADS * 4, dtype=torch.float32)
    other = x.clone()
    other[:, changed:] = 7 * random(BATCH, TOKENS - changed, HEADS * 4, seed=3, dtype=torch.float32)
    first, second = layer(x, None), layer(other, None)
    assert torch.equal(first[:, :changed], second[:, :changed])
    assert not torch.equal(first[:, changed:], second[:, changed:])


@pytest.mark.parametrize("name", CASES)
def test_what_the_probes_see_is_what_was_mixed(name):
    layer, visible = layer_of(name, dtype=torch.float64), visible_keys()
    x = random(BATCH, TOKENS, HEADS * 4)
    unwatched = layer(x, visible)
    with recording(layer) as trace:
        assert torch.equal(layer(x, visible), unwatched)
    if "weights" in trace:
        rows = trace["weights"]
        assert rows.shape == (BATCH, HEADS, TOKENS, TOKENS) and (rows >= 0).all()
        counted = visible[:, None].expand(rows.shape[:3])
        torch.testing.assert_close(rows.sum(-1)[counted], torch.ones_like(rows[..., 0][counted]))
        assert (rows.masked_select(~visible[:, None, None, :]) == 0).all()
        mixed = (rows @ trace["value"])[counted]
        torch.testing.assert_close(mixed, trace["head_output"][counted], rtol=0, atol=1e-12)
        seen = trace.get("mechanism.seen", visible[:, None, :].expand(-1, TOKENS, -1))
        assert torch.equal((rows > 0).all(dim=1)[visible], seen[visible])
    elif "mechanism.channel_weights" in trace:
        rows = trace["mechanism.channel_weights"]
        torch.testing.assert_close(rows.sum(-1), torch.ones_like(rows[..., 0]))
        mixed = trace["value"] @ rows.transpose(-2, -1)
        torch.testing.assert_close(mixed, trace["head_output"], rtol=0, atol=1e-12)
    else:
        assert CASES[name][0].no_token_weights


@pytest.mark.parametrize("name", CASES)
def test_the_scale_is_read_in_one_place(name):
    settings = CASES[name][0]
    built, (q, k, v) = module(name), qkv()
    before = attend(built, q, k, v)
    built.scale = built.scale * 2
    twice = attend(built, q, k, v)
    assert torch.allclose(twice, before, rtol=0, atol=1e-6) != settings.scaled
    if settings.scaled:
        built.scale = built.scale / 2
        torch.testing.assert_close(attend(built, 2 * q, k, v), twice, rtol=0, atol=1e-12)
