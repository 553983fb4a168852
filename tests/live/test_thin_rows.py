"""Thinning keeps what a picture must not lose."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sandbox.live.thin_rows import kept_rows


@given(st.integers(1, 4), st.integers(1, 20), st.integers(0, 2000), st.integers(0, 99))
def test_every_columns_extremes_and_both_ends_stay(columns: int, buckets: int, n: int, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=(n + 1, columns))
    keep = kept_rows(values, buckets)
    assert (np.diff(keep) > 0).all() and keep[0] == 0 and keep[-1] == n
    assert len(keep) <= max(2 * columns * buckets + 2, 1)
    np.testing.assert_array_equal(values[keep].max(axis=0), values.max(axis=0))
    np.testing.assert_array_equal(values[keep].min(axis=0), values.min(axis=0))


def test_a_spike_of_one_step_in_fifty_thousand_stays() -> None:
    values = np.zeros((50_000, 3))
    values[31_415, 1] = 9.0
    keep = kept_rows(values, 100)
    assert 31_415 in keep and len(keep) < 700


def test_where_nans_begin_and_end_stays() -> None:
    values = np.random.default_rng(0).normal(size=(1000, 2))
    values[400:700, 0] = np.nan
    assert {399, 400, 699, 700} <= set(kept_rows(values, 5).tolist())
