"""Conditioned tokens: kappa at most two on what is visible, and padding changes nothing."""

import torch

from sandbox.conditioning.tokens.conditioned_tokens import ConditionedTokens
from sandbox.conditioning.tokens.plain_tokens import PlainTokens
from sandbox.mathematics.condition import condition_number, condition_number_nonzero
from sandbox.mathematics.spectral import svd_correction

MODULE = ConditionedTokens().build()


def tokens(batch=5, n=7, d=12, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(batch, n, d, generator=generator, dtype=torch.float64)


def test_it_is_the_mathematics_correction_and_kappa_is_at_most_two():
    for x in (tokens(), tokens(n=12, d=5)):
        expected = x + torch.from_numpy(svd_correction(x.numpy()))
        torch.testing.assert_close(MODULE(x, None), expected, rtol=0, atol=1e-10)
        assert (condition_number(MODULE(x, None).numpy()) <= 2 + 1e-9).all()


def test_what_stands_on_padding_changes_no_visible_token():
    visible = torch.arange(7)[None] < torch.tensor([7, 1, 3, 5, 6])[:, None]
    x = tokens()
    other = torch.where(visible[..., None], x, 9 * tokens(seed=1))
    first, second = MODULE(x, visible), MODULE(other, visible)
    assert torch.equal(first[visible], second[visible])
    for before, row, shown in zip(x, first, visible, strict=True):
        alone = MODULE(before[shown][None], None)[0]
        torch.testing.assert_close(row[shown], alone, rtol=0, atol=1e-10)
        assert condition_number(row[shown].numpy()) <= 2 + 1e-9


def test_equal_tokens_stay_equal_and_directions_that_are_not_there_are_not_made_up():
    x = tokens(n=3)[:, [0, 1, 0, 2, 1]]
    after = MODULE(x, None)
    torch.testing.assert_close(after[:, 0], after[:, 2], rtol=0, atol=1e-9)
    assert torch.linalg.matrix_rank(after).tolist() == [3] * 5
    assert (condition_number_nonzero(after.numpy(), 1e-9) <= 2 + 1e-9).all()


def test_the_correction_is_not_differentiated_and_nan_stays_in_its_sequence():
    x = tokens().requires_grad_()
    MODULE(x, None).sum().backward()
    assert torch.equal(x.grad, torch.ones_like(x))
    broken = tokens()
    broken[2] = float("nan")
    finite = torch.isfinite(MODULE(broken, None)).all(-1).all(-1)
    assert finite.tolist() == [True, True, False, True, True]


def test_plain_tokens_are_the_same_object():
    x = tokens()
    assert PlainTokens().build()(x, None) is x
