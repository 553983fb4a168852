"""Entropy, its normalized form and self-attention mass against values known by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sandbox.foundations.errors import InvalidData
from sandbox.mathematics.entropy import normalized_entropy, row_entropy, self_attention_mass

ORACLES = [
    ([0.5, 0.3, 0.2], 1.0296530141),
    ([0.6, 0.3, 0.1], 0.8979457249),
    ([0.4, 0.3, 0.3], 1.0888999753),
    ([0.9, 0.05, 0.05], 0.3943976914),
    ([1.0, 0.0, 0.0], 0.0),
    ([1 / 3, 1 / 3, 1 / 3], 1.0986122887),
    ([0.3, 0.25, 0.2, 0.15, 0.1], 1.5444795211),
]
positive_rows = arrays(np.float64, (4, 5), elements=st.floats(1e-6, 1.0))


@pytest.mark.parametrize(("row", "entropy"), ORACLES)
def test_entropy_agrees_with_the_table(row: list[float], entropy: float) -> None:
    assert row_entropy(np.array(row)) == pytest.approx(entropy, abs=1e-8)


def test_entropy_of_a_softmax_row_agrees_with_its_oracle() -> None:
    assert row_entropy(np.exp([2.0, 1.0, 0.0, -1.0])) == pytest.approx(0.9475369640, abs=1e-8)


def test_two_equal_keys_have_entropy_ln_two_whatever_hides_behind_the_mask() -> None:
    weights = np.array([0.5, np.nan, 0.5, -7.0])
    assert row_entropy(weights, np.array([True, False, True, False])) == pytest.approx(math.log(2), abs=1e-15)


def test_a_row_without_visible_weight_has_no_entropy_and_one_key_has_none_either() -> None:
    weights = np.array([[0.0, 0.0], [0.3, 0.7], [0.3, 0.7]])
    mask = np.array([[True, True], [False, False], [True, False]])
    np.testing.assert_array_equal(row_entropy(weights, mask), [np.nan, np.nan, 0.0])


def test_normalized_entropy_counts_visible_keys_and_leaves_out_rows_with_one() -> None:
    weights = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 5.0], [1.0, 0.0, 0.0]])
    mask = np.array([[True, True, True], [True, True, False], [True, False, False]])
    expected = [math.log(2) / math.log(3), 1.0, np.nan]
    np.testing.assert_allclose(normalized_entropy(weights, mask), expected, rtol=1e-14)


@given(positive_rows, st.floats(1e-300, 1e300))
def test_entropy_lies_between_zero_and_ln_keys_and_ignores_scale(rows: np.ndarray, scale: float) -> None:
    entropy = row_entropy(rows)
    assert (entropy >= 0).all() and (entropy <= math.log(5) + 1e-12).all()
    assert (normalized_entropy(rows) <= 1).all()
    np.testing.assert_allclose(row_entropy(rows * scale), entropy, atol=1e-9)


@given(positive_rows)
def test_entropy_forgets_the_order_of_keys_and_padded_ones(rows: np.ndarray) -> None:
    padded = np.concatenate([rows[:, ::-1], np.zeros((4, 3))], axis=1)
    np.testing.assert_allclose(row_entropy(padded), row_entropy(rows), atol=1e-14)


def test_sums_of_huge_and_of_denormal_weights_neither_overflow_nor_vanish() -> None:
    rows = np.array([[1e308] * 4, [5e-324] * 4])
    np.testing.assert_allclose(row_entropy(rows), math.log(4), rtol=1e-14)


def test_self_attention_mass_is_the_mean_of_the_diagonal_over_visible_queries() -> None:
    maps = np.array([[[0.9, 0.1], [0.5, 0.5]], [[0.2, 0.8], [1.0, 0.0]]])
    np.testing.assert_allclose(self_attention_mass(maps), [0.7, 0.1])
    first_only = np.array([[True, True], [True, False]])
    np.testing.assert_allclose(self_attention_mass(maps, first_only), [0.9, 0.2])
    assert np.isnan(self_attention_mass(maps, np.zeros((2, 2), dtype=bool))).all()


def test_self_attention_mass_needs_square_maps() -> None:
    with pytest.raises(InvalidData, match=r"\(2, 3\)"):
        self_attention_mass(np.ones((2, 3)))


@pytest.mark.parametrize("bad", [-0.1, np.nan, np.inf])
def test_an_unusable_weight_is_refused_with_its_row_and_key(bad: float) -> None:
    weights = np.ones((2, 3, 4))
    weights[1, 2, 3] = bad
    with pytest.raises(InvalidData, match=r"Row \(1, 2\) holds .* at key 3"):
        row_entropy(weights)


def test_a_mask_that_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidData, match=r"mask of shape \(4,\)"):
        row_entropy(np.ones((2, 3)), np.ones(4, dtype=bool))
