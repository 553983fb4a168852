"""The attention skeleton against torch's own attention, and what the slots may not break."""

import pytest
import torch

from sandbox.attention.skeleton import MultiHeadAttention
from sandbox.attention.softmax import Softmax
from sandbox.conditioning.output.direct import DirectOutput
from sandbox.conditioning.projection.plain import PlainProjection
from sandbox.foundations.probes import recording

D_MODEL, N_HEADS, BATCH, TOKENS = 12, 3, 5, 7


def attention(**slots):
    chosen = {"mechanism": Softmax(), "projection": PlainProjection(), "output": DirectOutput()} | slots
    torch.manual_seed(0)
    return MultiHeadAttention(D_MODEL, N_HEADS, **chosen).double()


def tokens(seed=1):
    return torch.randn(
        BATCH, TOKENS, D_MODEL, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
    )


def visible_keys():
    return torch.arange(TOKENS)[None] < torch.tensor([7, 1, 3, 5, 6])[:, None]


@pytest.mark.parametrize("masked", [False, True])
def test_agrees_with_torchs_own_attention(masked):
    layer, x = attention(), tokens()
    visible = visible_keys() if masked else None
    reference = torch.nn.MultiheadAttention(D_MODEL, N_HEADS, bias=False, batch_first=True).double()
    with torch.no_grad():
        reference.in_proj_weight.copy_(
            torch.cat([layer.w_query.weight, layer.w_key.weight, layer.w_value.weight])
        )
        reference.out_proj.weight.copy_(layer.w_out.weight)
    expected, _ = reference(x, x, x, key_padding_mask=None if visible is None else ~visible)
    torch.testing.assert_close(layer(x, visible), expected, rtol=0, atol=1e-12)


def test_masked_keys_change_nothing_at_all():
    layer, x, visible = attention(), tokens(), visible_keys()
    changed = torch.where(visible[..., None], x, tokens(seed=2))
    first, second = layer(x, visible), layer(changed, visible)
    assert torch.equal(first[visible], second[visible])


def test_moves_with_its_tokens():
    layer, x = attention(), tokens()
    order = torch.tensor([3, 0, 6, 1, 5, 2, 4])
    torch.testing.assert_close(layer(x[:, order], None), layer(x, None)[:, order], rtol=0, atol=1e-12)


def test_probes_see_rows_that_sum_to_one_and_hide_masked_keys():
    layer, visible = attention(), visible_keys()
    with recording(layer) as trace:
        layer(tokens(), visible)
    assert set(trace) == {"query", "key", "value", "scores", "weights", "head_output"}
    weights = trace["weights"]
    assert weights.shape == (BATCH, N_HEADS, TOKENS, TOKENS)
    torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))
    assert (weights.masked_select(~visible[:, None, None, :]) == 0).all()


def test_projections_are_the_papers_matrices():
    layer, x = attention(), tokens()
    with recording(layer) as trace:
        layer(x, None)
    for name, matrices in layer.projections().items():
        assert matrices.shape == (N_HEADS, D_MODEL, D_MODEL // N_HEADS)
        torch.testing.assert_close(trace[name], x[:, None] @ matrices, rtol=0, atol=1e-12)
