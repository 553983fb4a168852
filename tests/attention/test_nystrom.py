"""Nystrom attention's parts: landmarks, the iterated inverse, and the convolution after conditioning."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import conv2d

from sandbox.attention.nystrom import Nystrom, banded, iterated_inverse, segment_means
from sandbox.attention.skeleton import MultiHeadAttention
from sandbox.conditioning.output.preconditioned import Preconditioned
from sandbox.conditioning.projection.plain import PlainProjection
from sandbox.foundations.errors import SandboxError
from sandbox.foundations.probes import Probe, recording
from tests.attention.references import convolution, over_keys

PADDED = torch.tensor([[True] * 7, [True] * 5 + [False] * 2, [True, True] + [False] * 5])


def random(*shape, seed=1):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 4))
def test_segments_are_even_pieces_of_the_visible_tokens(n_tokens, n_landmarks, n_padding):
    visible = torch.arange(n_tokens + n_padding)[None] < n_tokens
    means, filled = segment_means(visible, n_landmarks, torch.float64)
    assert int(filled.sum()) == min(n_landmarks, n_tokens)
    assert torch.equal(filled, means.sum(-1) > 0.5)
    sizes = (means[0] > 0).sum(-1)[filled[0]]
    assert sizes.max() - sizes.min() <= 1 and sizes.sum() == n_tokens
    assert (means[..., n_tokens:] == 0).all()


def test_segments_of_a_divisible_length_are_the_papers():
    means, _ = segment_means(torch.ones(1, 12, dtype=torch.bool), 4, torch.float64)
    tokens = random(12, 3)
    torch.testing.assert_close(means[0] @ tokens, tokens.reshape(4, 3, 3).mean(1))


def test_the_iteration_approaches_the_inverse():
    rows = torch.softmax(3 * random(2, 3, 5, 5), dim=-1)
    exact = torch.linalg.inv(rows)
    errors = [(iterated_inverse(rows, steps) - exact).abs().max() for steps in (0, 6, 12, 40)]
    assert errors[0] > errors[1] > errors[2] and errors[3] < 1e-8


def test_each_matrix_starts_from_its_own_column_sum():
    rows = torch.softmax(3 * random(2, 3, 4, 4), dim=-1)
    together = iterated_inverse(rows, 0)
    for sample in range(2):
        for head in range(3):
            one = rows[sample, head].numpy()
            np.testing.assert_allclose(together[sample, head], one.T / one.sum(axis=0).max(), atol=1e-15)


@pytest.mark.parametrize("n_tokens", [1, 2, 7, 20])
@pytest.mark.parametrize("taps", [1, 3, 35])
def test_the_convolution_is_torchs_depth_wise_one(taps, n_tokens):
    kernel, value = random(2, taps), random(3, 2, n_tokens, 4, seed=2)
    found = banded(kernel, n_tokens) @ value
    expected = conv2d(value, kernel[:, None, :, None], padding=(taps // 2, 0), groups=2)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found[1, 1], convolution(value[1, 1].numpy(), kernel[1].numpy()), atol=1e-12)


def test_an_even_kernel_is_refused():
    with pytest.raises(SandboxError, match="odd"):
        Nystrom(taps=4)


def test_many_steps_with_a_landmark_for_every_visible_token_are_softmax():
    """The second sequence has 5 tokens for 6 landmarks, the third 2: empty segments change nothing."""
    built = Nystrom(landmarks=6, steps=20, convolution=False).build(4, 1, 0)
    q, k, v = (2 * random(3, 1, 7, 4, seed=seed) for seed in (1, 2, 3))
    found = built(q, k, v, PADDED, Probe(), Probe())
    for sequence, n in ((1, 5), (2, 2)):
        one = (x[sequence, 0, :n].numpy() for x in (q, k, v))
        expected = over_keys(*one, lambda i, j: True)
        np.testing.assert_allclose(found[sequence, 0, :n], expected, rtol=0, atol=1e-6)


def test_landmarks_lose_nothing_where_a_segments_tokens_are_alike():
    q, k = (2 * random(3, 2, 4, 5, seed=seed).repeat_interleave(3, dim=-2) for seed in (1, 2))
    v = random(3, 2, 12, 5, seed=3)
    exact = torch.softmax(q @ k.transpose(-2, -1) / 5**0.5, dim=-1) @ v
    built = Nystrom(landmarks=4, steps=20, convolution=False).build(5, 2, 0)
    torch.testing.assert_close(built(q, k, v, None, Probe(), Probe()), exact, rtol=0, atol=1e-9)


def test_rows_are_preconditioned_before_the_convolution_is_added():
    settings = Nystrom(landmarks=3, taps=3)
    torch.manual_seed(0)
    layer = MultiHeadAttention(8, 2, settings, PlainProjection(), Preconditioned()).double()
    with recording(layer) as trace:
        layer(random(3, 7, 8), PADDED)
    skip = layer.mechanism.skip(trace["value"], PADDED)
    rows = (trace["head_output"] - skip).norm(dim=-1)[PADDED[:, None].expand(-1, 2, -1)]
    torch.testing.assert_close(rows, torch.ones_like(rows))
    assert skip.abs().max() > 0.01


def test_the_convolution_can_be_left_out():
    built = Nystrom(convolution=False).build(4, 2, 0)
    assert not list(built.parameters()) and built.skip(random(1, 2, 7, 4), None) is None
