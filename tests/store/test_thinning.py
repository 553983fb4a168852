"""Thinning never hides a spike, an end, a NaN or an infinity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.store.thinning import FEWEST, thin

CURVES = st.lists(
    st.one_of(st.floats(-1e6, 1e6), st.sampled_from([np.nan, np.inf, -np.inf])), min_size=1, max_size=400
).map(np.array)


@given(values=CURVES, n=st.integers(1, 60))
def test_extremes_ends_and_marks_survive(values: np.ndarray, n: int) -> None:
    steps = np.cumsum(np.arange(len(values)) + 1)
    kept = thin(steps, values, n)
    places = np.searchsorted(steps, kept.steps)
    assert len(kept.steps) <= max(n, FEWEST)
    assert (np.diff(kept.steps) > 0).all()
    np.testing.assert_array_equal(values[places], kept.values)
    np.testing.assert_array_equal(steps[places], kept.steps)
    assert {0, len(values) - 1} <= set(places.tolist())
    finite = values[np.isfinite(values)]
    if len(finite):
        assert finite.min() in kept.values
        assert finite.max() in kept.values
    for is_mark in (np.isnan, np.isposinf, np.isneginf):
        assert is_mark(values).argmax() in places or not is_mark(values).any()
    broken = ~np.isfinite(values)
    assert kept.not_finite == broken.sum()
    assert kept.total == len(values)
    if broken.any() and broken.argmax() > 0:
        assert broken.argmax() - 1 in places


@pytest.mark.parametrize("at", [1, 31_337, 49_998])
@pytest.mark.parametrize("spike", [50.0, -50.0, np.nan, np.inf, -np.inf])
def test_a_spike_of_one_step_in_fifty_thousand_survives(at: int, spike: float) -> None:
    values = np.random.default_rng(3).normal(size=50_000)
    values[at] = spike
    kept = thin(np.arange(50_000), values, 2_000)
    assert 900 < len(kept.steps) <= 2_000
    assert at in kept.steps
    assert kept.total == 50_000


def test_a_short_curve_is_kept_whole() -> None:
    kept = thin(np.arange(100), np.arange(100.0), 100)
    np.testing.assert_array_equal(kept.values, np.arange(100.0))
