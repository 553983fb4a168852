"""Clustering of sequence embeddings by the multiset of their prefix."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.foundations.errors import InvalidData
from sandbox.mathematics.clustering import n_prefix_groups, prefix_groups, variance_within_groups

RANDOM = np.random.default_rng(5)


@pytest.mark.parametrize(("modulus", "n_terms", "count"), [(2, 5, 6), (2, 3, 4), (3, 2, 6), (4, 3, 20)])
def test_the_number_of_groups_is_the_number_of_multisets(modulus: int, n_terms: int, count: int) -> None:
    tokens = np.array(list(itertools.product(range(modulus), repeat=n_terms + 1)))
    assert len(set(prefix_groups(tokens, n_terms).tolist())) == n_prefix_groups(modulus, n_terms) == count


def test_groups_see_the_prefix_up_to_order_and_nothing_behind_it() -> None:
    tokens = np.array([[0, 1, 2, 9], [2, 1, 0, 4], [0, 1, 1, 9], [1, 0, 1, 9], [2, 2, 0, 9]], dtype=np.uint8)
    groups = prefix_groups(tokens, 3)
    assert groups[0] == groups[1] and groups[2] == groups[3]
    assert len({groups[0], groups[2], groups[4]}) == 3
    assert prefix_groups(tokens[:0], 3).shape == (0,)


@pytest.mark.parametrize("n_terms", [0, 5])
def test_a_prefix_that_does_not_fit_is_refused(n_terms: int) -> None:
    with pytest.raises(InvalidData, match="prefix"):
        prefix_groups(np.zeros((2, 4), dtype=np.int64), n_terms)


def test_the_share_agrees_with_a_case_by_hand() -> None:
    points = np.array([[0.0, 1.0], [0.0, -1.0], [4.0, 1.0], [4.0, -1.0]])
    assert variance_within_groups(points, np.array([7, 7, 3, 3])) == pytest.approx(4 / 20)
    assert variance_within_groups(points, np.array([1, 2, 1, 2])) == pytest.approx(16 / 20)
    assert variance_within_groups(points, np.array([1, 1, 1, 1])) == 1.0
    assert variance_within_groups(points, np.array([1, 2, 3, 4])) == 0.0


@given(st.integers(0, 10**6))
def test_the_share_lies_between_zero_and_one_and_ignores_place_scale_and_rotation(seed: int) -> None:
    random = np.random.default_rng(seed)
    points, groups = random.normal(size=(12, 3)), random.integers(0, 4, 12)
    share = variance_within_groups(points, groups)
    rotation = np.linalg.qr(random.normal(size=(3, 3)))[0]
    assert 0 <= share <= 1
    assert variance_within_groups(1e3 * points @ rotation + 1e5, groups) == pytest.approx(share, abs=1e-9)
    assert variance_within_groups(points, 5 - groups) == pytest.approx(share, abs=1e-12)


def test_runs_are_measured_apart_and_one_without_spread_or_numbers_has_no_share() -> None:
    points, groups = RANDOM.normal(size=(3, 10, 2)), RANDOM.integers(0, 3, 10)
    points[1] = 4.0
    points[2, 3, 1] = np.nan
    shares = variance_within_groups(points, groups)
    assert shares[0] == pytest.approx(float(variance_within_groups(points[0], groups)))
    assert np.isnan(shares[1:]).all()


def test_group_numbers_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidData, match="4 embeddings do not fit 3"):
        variance_within_groups(np.ones((4, 2)), np.zeros(3, dtype=np.int64))
