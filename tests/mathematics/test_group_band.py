"""Bands over seeds: each kind against NumPy's own, whatever is missing, and infinite values by their rank."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sandbox.mathematics.group_band import BANDS, BandKind, group_band
from sandbox.mathematics.statistics import student_quantile

FINITE = st.floats(-1e6, 1e6)
NAN, INF = np.nan, np.inf


@given(arrays(np.float64, (3, 5), elements=FINITE))
def test_every_kind_is_what_numpy_says(values: np.ndarray) -> None:
    mean, spread = values.mean(axis=1), values.std(axis=1, ddof=1)
    half = student_quantile(4) * spread / np.sqrt(5)
    wanted = {
        "range": (mean, values.min(axis=1), values.max(axis=1)),
        "interval": (mean, mean - half, mean + half),
        "deviation": (mean, mean - spread, mean + spread),
        "quartiles": tuple(np.quantile(values, q, axis=1) for q in (0.5, 0.25, 0.75)),
    }
    assert wanted.keys() == BANDS.keys()
    for kind, (middle, low, high) in wanted.items():
        found = group_band(values, kind)  # type: ignore[arg-type]
        for mine, theirs in ((found.middle, middle), (found.low, low), (found.high, high)):
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-6)
        assert found.n.tolist() == [5, 5, 5]


@pytest.mark.parametrize("kind", BANDS)
@pytest.mark.parametrize("log", [False, True])
def test_what_is_missing_is_left_out_and_counted(kind: BandKind, log: bool) -> None:
    values = np.array([[1.0, NAN, 3.0], [NAN, NAN, 7.0], [NAN, NAN, NAN]])
    found, full = group_band(values, kind, log), group_band(np.array([[1.0, 3.0]]), kind, log)
    assert found.n.tolist() == [2, 1, 0]
    assert (found.middle[0], found.low[0], found.high[0]) == (full.middle[0], full.low[0], full.high[0])
    assert found.middle[1] == 7.0 and np.isnan(found.middle[2])
    if kind in ("interval", "deviation") and not log:
        assert np.isnan(found.low[1]), "one seed has no spread"


def test_infinite_values_have_their_rank_on_a_log_axis() -> None:
    values = np.array([[1.0, 2.0, INF, INF, INF]])
    found = group_band(values, "quartiles", log=True)
    assert (found.low[0], found.middle[0], found.high[0]) == (2.0, INF, INF)
    assert group_band(values, "range").high[0] == 2.0


def test_one_column_decides_nothing_about_another_row() -> None:
    values = np.arange(12.0).reshape(4, 3)
    whole = group_band(values, "deviation")
    for row in range(4):
        assert group_band(values[[row]], "deviation").low[0] == whole.low[row]
