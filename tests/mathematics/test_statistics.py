"""What seeds show together, against SciPy and by hand, with seeds that diverged."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from sandbox.foundations.errors import InvalidData
from sandbox.mathematics.statistics import (
    finite_geometric_mean,
    finite_median,
    mean_band,
    paired_difference,
    student_quantile,
)

seed_values = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=12)


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 5, 9, 10, 31, 100, 1001])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_student_quantiles_agree_with_scipy(degrees: int, confidence: float) -> None:
    truth = scipy.stats.t.ppf(0.5 + confidence / 2, degrees)
    assert student_quantile(degrees, confidence) == pytest.approx(truth, rel=1e-10)


@pytest.mark.parametrize(("degrees", "confidence"), [(0, 0.95), (3, 0.0), (3, 1.0), (3, math.nan)])
def test_quantiles_that_do_not_exist_are_refused(degrees: int, confidence: float) -> None:
    with pytest.raises(InvalidData, match="Student"):
        student_quantile(degrees, confidence)


@given(seed_values, st.integers(0, 10**6))
def test_the_paired_interval_is_that_of_a_t_test_on_differences(values: list[float], seed: int) -> None:
    arm = np.array(values)
    standard = arm + np.random.default_rng(seed).normal(size=len(arm)) + 0.5
    found = paired_difference(arm, standard)
    interval = scipy.stats.ttest_rel(arm, standard).confidence_interval(0.95)
    assert found.n == len(arm) and found.n_left_out == 0 and found.confidence == 0.95
    assert found.mean == pytest.approx(float((arm - standard).mean()), abs=1e-9)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), abs=1e-7)


def test_one_pair_gives_a_mean_without_an_interval_and_none_gives_neither() -> None:
    one = paired_difference(np.array([3.0]), np.array([1.0]))
    assert (one.n, one.mean, one.low, one.high) == (1, 2.0, None, None)
    none = paired_difference(np.array([np.nan]), np.array([1.0]))
    assert (none.n, none.n_left_out, none.low) == (0, 1, None) and math.isnan(none.mean)


def test_seeds_that_one_side_lacks_are_left_out_and_counted() -> None:
    found = paired_difference(np.array([3.0, np.inf, 5.0, 1.0]), np.array([1.0, 2.0, 3.0, np.nan]))
    assert (found.n, found.n_left_out, found.mean) == (2, 2, 2.0)
    assert found.low == found.high == 2.0


def test_a_wider_confidence_gives_a_wider_interval() -> None:
    arm, standard = np.array([1.0, 2.0, 4.0]), np.zeros(3)
    narrow, wide = paired_difference(arm, standard, 0.5), paired_difference(arm, standard, 0.99)
    assert narrow.low is not None and wide.low is not None and wide.low < narrow.low


def test_the_band_is_a_student_interval_at_each_step_and_leaves_out_diverged_runs() -> None:
    values = np.array([[1.0, 2.0, np.nan, np.inf], [3.0, np.nan, np.nan, 4.0], [8.0, 6.0, np.nan, 6.0]])
    band = mean_band(values)
    np.testing.assert_array_equal(band.n, [3, 2, 0, 2])
    np.testing.assert_allclose(band.mean, [4.0, 4.0, np.nan, 5.0])
    interval = scipy.stats.t.interval(0.95, 2, loc=4.0, scale=scipy.stats.sem([1.0, 3.0, 8.0]))
    np.testing.assert_allclose([band.low[0], band.high[0]], interval, rtol=1e-10)
    assert np.isnan(band.low[2]) and band.low[3] < 5.0 < band.high[3]


def test_one_run_has_a_mean_and_no_band() -> None:
    band = mean_band(np.array([[1.0, 2.0]]))
    np.testing.assert_array_equal(band.mean, [1.0, 2.0])
    assert np.isnan(band.low).all() and np.isnan(band.high).all()


def test_middles_are_of_finite_values_and_count_the_others() -> None:
    values = np.array([[1.0, np.inf, 100.0], [10.0, np.nan, np.inf]])
    median, geometric = finite_median(values), finite_geometric_mean(values)
    for found in (median, geometric):
        assert found.middle == pytest.approx(10.0)
        assert (found.low, found.high) == (1.0, 100.0)
        assert (found.n_finite, found.n_infinite, found.n_missing) == (3, 2, 1)


def test_where_all_are_infinite_so_is_the_middle_and_nothing_has_none() -> None:
    assert finite_median(np.array([np.inf, np.inf])).middle == np.inf
    assert finite_geometric_mean(np.array([np.inf])).middle == np.inf
    assert math.isnan(finite_median(np.array([np.nan])).middle)
    assert math.isnan(finite_median(np.array([])).middle)


def test_geometric_means_of_huge_values_do_not_overflow_and_zero_is_refused() -> None:
    assert finite_geometric_mean(np.array([1e300, 1e308])).middle == pytest.approx(1e304, rel=1e-9)
    with pytest.raises(InvalidData, match="positive"):
        finite_geometric_mean(np.array([1.0, 0.0]))


@pytest.mark.parametrize("shift", [0.0, -5.0, 1e6])
def test_a_constant_difference_has_an_interval_of_no_width(shift: float) -> None:
    standard = np.array([1.0, 2.0, 3.0])
    found = paired_difference(standard + shift, standard)
    assert found.low == found.high == shift
