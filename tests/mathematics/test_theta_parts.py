"""The steps of theta's search, one by one, on whole numbers where the answer is plain."""

import itertools

import numpy as np
import pytest

from sandbox.mathematics.fixed_point import FixedPointRows, fixed_point_rows
from sandbox.mathematics.theta_certificates import (
    difference_largest,
    fill_below_half,
    karmarkar_karp,
    longest_first,
    place_all_but_some,
    sorted_prefix,
)
from sandbox.mathematics.theta_closed_forms import counting_bracket, granularity_bound
from sandbox.mathematics.theta_exact import heads_against_tail, smallest_difference

RANDOM = np.random.default_rng(7)

pytestmark = pytest.mark.usefixtures("both_ways")


def whole_rows(units: np.ndarray) -> FixedPointRows:
    units = np.sort(units.astype(np.int64), axis=1)[:, ::-1]
    none = np.zeros(len(units), dtype=np.int64)
    return FixedPointRows(units, units.sum(axis=1), none, np.count_nonzero(units, axis=1))


def optimum(row: np.ndarray) -> int:
    return min(abs(int(np.dot(signs, row))) for signs in itertools.product((1, -1), repeat=len(row)))


def test_the_methods_split_a_known_row_as_by_hand() -> None:
    rows = whole_rows(np.array([[8, 7, 6, 5, 4]]))
    assert sorted_prefix(rows.units, rows.total) == [0]  # 8 + 7 against 6 + 5 + 4
    assert longest_first(rows.units) == [4]  # 8, 5, 4 against 7, 6
    assert fill_below_half(rows.units, rows.total) == [0]
    assert karmarkar_karp(rows.units) == [2]
    assert smallest_difference(rows.units) == [0]


def test_differencing_keeps_order_and_its_remainder_signs_to_a_split_of_the_row() -> None:
    units = whole_rows(RANDOM.integers(1, 1000, (50, 9))).units
    remainder = difference_largest(units, 5)
    assert (np.diff(remainder, axis=1) <= 0).all() and (remainder >= 0).all()
    assert (remainder.sum(axis=1) % 2 == units.sum(axis=1) % 2).all()
    assert (smallest_difference(remainder) >= smallest_difference(units)).all()
    np.testing.assert_array_equal(difference_largest(remainder, 1)[:, 0], karmarkar_karp(units))


def test_a_row_of_few_keys_is_not_differenced_for_the_sake_of_longer_ones() -> None:
    units = whole_rows(np.array([[9, 8, 7, 6, 5, 4], [9, 5, 3, 0, 0, 0], [9, 5, 3, 2, 0, 0]])).units
    np.testing.assert_array_equal(difference_largest(units, 3), [[1, 1, 1], [9, 5, 3], [4, 3, 2]])


def test_keys_kept_apart_and_the_placed_rest_sign_to_a_split_of_the_row() -> None:
    rows = whole_rows(np.concatenate([RANDOM.integers(1, 1000, (50, 9)), np.zeros((50, 2))], axis=1))
    remainder = place_all_but_some(rows, 5)
    assert remainder.shape == (50, 5)
    assert (remainder[:, 0] == rows.units[:, 0]).all() and (remainder[:, 3] == rows.units[:, 8]).all()
    assert (remainder.sum(axis=1) % 2 == rows.total % 2).all()
    found, truth = smallest_difference(remainder), smallest_difference(rows.units)
    assert (found >= truth).all() and (found == truth).any()


@pytest.mark.parametrize("n_keys", [1, 2, 3, 4, 7, 10])
def test_the_complete_search_finds_the_optimum(n_keys: int) -> None:
    units = whole_rows(RANDOM.integers(0, 10**6, (25, n_keys))).units
    assert smallest_difference(units).tolist() == [optimum(row) for row in units]


def test_the_complete_search_holds_the_largest_sums_without_overflow() -> None:
    largest = 2**60 // 24
    units = np.full((2, 24), largest, dtype=np.int64)
    units[1, -1] = largest - 1
    assert smallest_difference(units).tolist() == [0, 1]


def test_the_search_in_chunks_equals_the_search_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    units = whole_rows(RANDOM.integers(1, 10**9, (30, 11))).units
    at_once = smallest_difference(units)
    monkeypatch.setattr("sandbox.mathematics.theta_exact.CHUNK_SUMS", 200)
    np.testing.assert_array_equal(smallest_difference(units), at_once)


@pytest.mark.parametrize("n_heads", [1, 2, 4])
@pytest.mark.parametrize("spread", [2, 40, 10**6])
def test_bounds_hold_and_are_attained_where_they_say_so(n_heads: int, spread: int) -> None:
    heavy = (RANDOM.random((300, 8)) < 0.1) * 8 * spread
    rows = whole_rows(RANDOM.integers(0, spread, (300, 8)) + heavy)
    truth = smallest_difference(rows.units)
    for bracket in (counting_bracket(rows, n_heads), heads_against_tail(rows, n_heads)):
        assert (bracket.bound <= truth).all() and (truth <= bracket.attained).all()
    positive = counting_bracket(rows, n_heads)
    settled = positive.bound > 0
    assert settled.any()
    np.testing.assert_array_equal(positive.attained[settled], positive.bound[settled])


def test_rows_of_three_keys_are_settled_by_counting() -> None:
    rows = whole_rows(RANDOM.integers(1, 10**6, (200, 3)))
    np.testing.assert_array_equal(counting_bracket(rows, 1).attained, smallest_difference(rows.units))


def test_divisibility_bounds_an_odd_multiple_and_says_nothing_of_an_even_one() -> None:
    rows = whole_rows(np.array([[9, 6, 6], [9, 9, 6], [5, 5, 0]]))
    assert granularity_bound(rows).tolist() == [3, 0, 0]


def test_fixed_point_is_exact_for_weights_of_at_least_1_in_128() -> None:
    rows = fixed_point_rows(RANDOM.uniform(1.0, 10.0, (50, 12)))
    assert (rows.slack == 0).all() and (rows.total < 2**60 + 12).all() and (rows.total >= 2**59 - 12).all()
    mixed = fixed_point_rows(np.array([[1.0, 1e-30, 0.1, 1e-25]]))
    assert mixed.slack.tolist() == [1] and mixed.n_keys.tolist() == [2]
