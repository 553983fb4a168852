"""Wilson's interval: the roots of its own equation, a published example, and its ends."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.foundations.errors import InvalidData
from sandbox.mathematics.success_share import NORMAL_QUANTILE, wilson_interval


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_both_ends_lie_just_so_far_from_what_was_seen_as_the_quantile_allows(pair: tuple[int, int]) -> None:
    k, n = pair
    low, high = wilson_interval(k, n)
    assert 0.0 <= low <= k / n <= high <= 1.0
    for end in (low, high):
        if 0.0 < end < 1.0:
            assert abs(k / n - end) == pytest.approx(
                NORMAL_QUANTILE * math.sqrt(end * (1 - end) / n), rel=1e-6
            )


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_failures_have_the_mirrored_interval(pair: tuple[int, int]) -> None:
    k, n = pair
    low, high = wilson_interval(k, n)
    assert wilson_interval(n - k, n) == pytest.approx((1 - high, 1 - low), abs=1e-12)


def test_known_values() -> None:
    # Newcombe, Statistics in Medicine 17 (1998), 857-872, table I: 81/263, 15/148, 0/20 and 1/29, method 3.
    for (k, n), expected in {
        (81, 263): (0.2553, 0.3662),
        (15, 148): (0.0624, 0.1605),
        (0, 20): (0.0, 0.1611),
        (1, 29): (0.0061, 0.1718),
    }.items():
        assert wilson_interval(k, n) == pytest.approx(expected, abs=6e-5)


@pytest.mark.parametrize(("k", "n"), [(1, 0), (-1, 5), (6, 5)])
def test_what_is_no_count_is_refused(k: int, n: int) -> None:
    with pytest.raises(InvalidData):
        wilson_interval(k, n)
