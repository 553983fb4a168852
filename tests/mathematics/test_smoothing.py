"""Smoothing: constants stay, gaps stay, and it is the mean that it says it is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sandbox.foundations.errors import InvalidData
from sandbox.mathematics.smoothing import moving_mean

CURVES = arrays(
    np.float64, st.integers(0, 40),
    elements=st.one_of(st.floats(-1e6, 1e6), st.sampled_from([np.nan, np.inf, -np.inf])),
)  # fmt: skip
REACHES = st.integers(0, 50)


@given(st.floats(-1e9, 1e9), st.integers(1, 30), REACHES)
def test_a_constant_stays_that_constant_to_the_bit(value: float, n: int, reach: int) -> None:
    assert (moving_mean(np.full(n, value), reach) == value).all()


@given(CURVES, REACHES)
def test_no_value_appears_or_vanishes(curve: np.ndarray, reach: int) -> None:
    smooth = moving_mean(curve, reach)
    assert (np.isfinite(smooth) == np.isfinite(curve)).all()
    lost = ~np.isfinite(curve)
    np.testing.assert_array_equal(smooth[lost], curve[lost])


@given(CURVES, REACHES)
def test_it_is_the_mean_of_the_neighbours_up_to_the_next_gap(curve: np.ndarray, reach: int) -> None:
    smooth = moving_mean(curve, reach)
    for i in np.flatnonzero(np.isfinite(curve)):
        left = i
        while left > 0 and i - left < reach and np.isfinite(curve[left - 1]):
            left -= 1
        right = i
        while right + 1 < len(curve) and right - i < reach and np.isfinite(curve[right + 1]):
            right += 1
        assert smooth[i] == pytest.approx(curve[left : right + 1].mean(), rel=1e-9, abs=1e-6)


def test_a_negative_reach_is_refused() -> None:
    with pytest.raises(InvalidData, match="reach"):
        moving_mean(np.zeros(3), -1)
