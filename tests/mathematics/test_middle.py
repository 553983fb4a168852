"""Middles of condition numbers: infinite samples are counted, never averaged in."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sandbox.mathematics.distinct_points import count_clumps
from sandbox.mathematics.middle import geometric_mean_of_finite, median_of_condition

INF, NAN = np.inf, np.nan


def test_the_geometric_mean_is_over_the_finite_samples() -> None:
    values = np.array([[1.0, 100.0, INF], [INF, INF, INF], [1.0, NAN, 2.0]])
    assert np.allclose(geometric_mean_of_finite(values), [10.0, INF, NAN], equal_nan=True)


def test_the_median_is_infinite_where_half_the_samples_are() -> None:
    values = np.array([[1.0, 3.0, INF], [1.0, INF, INF], [1.0, NAN, 2.0]])
    assert np.array_equal(median_of_condition(values), [3.0, INF, NAN], equal_nan=True)


def test_no_sample_has_no_middle() -> None:
    assert np.isnan(median_of_condition(np.ones((2, 0)))).all()
    assert np.isnan(geometric_mean_of_finite(np.ones((2, 0)))).all()


@given(arrays.arrays(np.float64, (3, 5), elements=st.floats(1, 1e12)))
def test_a_geometric_mean_lies_between_its_ends(values: np.ndarray) -> None:
    found = geometric_mean_of_finite(values)
    assert (found >= values.min(axis=1) * (1 - 1e-9)).all()
    assert (found <= values.max(axis=1) * (1 + 1e-9)).all()


def test_clumps_are_linked_by_chains_and_counted_run_by_run() -> None:
    line = np.stack([np.arange(20) * 0.01, np.zeros(20)], axis=1)
    pair = np.where(np.arange(20)[:, None] < 10, 0.0, 5.0) + 1e-9 * line
    far = np.stack(np.divmod(np.arange(20.0), 5), axis=1)  # a grid: steps of 1, an RMS radius of 1.8
    broken = np.full((20, 2), NAN)
    found = count_clumps(np.stack([line, pair, far, broken]), 0.2)
    assert found.tolist() == [1, 2, 20, -1]
