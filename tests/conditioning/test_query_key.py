"""Query and key normalization: the formulas, scale invariance, gradients."""

import math

import pytest
import torch

from sandbox.attention.skeleton import MultiHeadAttention
from sandbox.attention.softmax import Softmax
from sandbox.conditioning.output.direct import DirectOutput
from sandbox.conditioning.projection.plain import PlainProjection
from sandbox.conditioning.query_key.qk_l2 import L2QueryKey
from sandbox.conditioning.query_key.qk_plain import PlainQueryKey
from sandbox.conditioning.query_key.qk_rms import RmsQueryKey
from sandbox.foundations.probes import recording


def vectors(seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(2, 3, 5, 4, generator=generator, dtype=torch.float64)


def attention(qk):
    torch.manual_seed(0)
    return MultiHeadAttention(12, 3, Softmax(), PlainProjection(), DirectOutput(), qk=qk).double()


def scores(qk, factor=1.0):
    layer = attention(qk)
    with torch.no_grad():
        layer.w_query.weight.mul_(factor)
    x = torch.randn(2, 5, 12, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    with recording(layer) as trace:
        layer(x, None)
    return trace


def test_l2_scores_are_the_gain_times_cosines_at_the_standard_temperature():
    trace = scores(L2QueryKey(gain=7.0))
    cosine = torch.nn.functional.cosine_similarity(
        trace["query"][..., :, None, :], trace["key"][..., None, :, :], dim=-1
    )
    torch.testing.assert_close(trace["scores"], 7.0 * cosine, rtol=0, atol=1e-6)


def test_rms_is_torchs_own_and_gives_vectors_of_length_root_d():
    x = vectors()
    module = RmsQueryKey(gain=1.0).build(4, "query").double()
    reference = torch.nn.functional.rms_norm(x, (4,), eps=1e-6)
    torch.testing.assert_close(module(x), reference, rtol=0, atol=1e-12)
    lengths = torch.linalg.vector_norm(module(x), dim=-1)
    torch.testing.assert_close(lengths, torch.full_like(lengths, 2.0), rtol=0, atol=1e-4)


@pytest.mark.parametrize("qk", [L2QueryKey(), RmsQueryKey()])
def test_longer_queries_make_no_louder_scores(qk):
    torch.testing.assert_close(scores(qk)["scores"], scores(qk, 100.0)["scores"], rtol=1e-3, atol=1e-4)


def test_plain_queries_do():
    quiet, loud = scores(PlainQueryKey()), scores(PlainQueryKey(), 100.0)
    torch.testing.assert_close(100 * quiet["scores"], loud["scores"])


@pytest.mark.parametrize("qk", [L2QueryKey(), RmsQueryKey(), L2QueryKey(trained=False)])
@pytest.mark.parametrize("which", ["query", "key"])
def test_gradients_agree_with_finite_differences(qk, which):
    module = qk.build(4, which).double()
    assert torch.autograd.gradcheck(module, (vectors()[:1, :2].requires_grad_(),))


def test_gains_are_parameters_only_where_they_are_trained():
    sizes = {
        (type(qk), qk.trained): sum(
            p.numel() for which in ("query", "key") for p in qk.build(4, which).parameters()
        )
        for qk in (
            L2QueryKey(),
            L2QueryKey(trained=False),
            RmsQueryKey(),
            RmsQueryKey(trained=False),
        )
    }
    assert list(sizes.values()) == [1, 0, 8, 0]
    gain = L2QueryKey(gain=3.0).build(16, "query").factor
    assert gain.item() == pytest.approx(3.0 * math.sqrt(16))


def test_a_zero_vector_stays_zero_with_a_finite_gradient():
    for qk in (L2QueryKey(), RmsQueryKey()):
        x = torch.zeros(1, 1, 1, 4, requires_grad=True)
        out = qk.build(4, "query")(x)
        out.sum().backward()
        assert not out.any() and torch.isfinite(x.grad).all()
