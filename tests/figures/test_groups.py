"""Seed groups and rails: what is drawn is what was recorded, and nothing that was recorded is lost."""

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sandbox.figures.drawing import blank
from sandbox.figures.groups import POINTS, SeedGroup, draw_group
from sandbox.figures.palette import arm_style
from sandbox.figures.rails import Rails
from sandbox.mathematics.group_band import BandKind, group_band
from sandbox.mathematics.statistics import student_quantile

STYLE = arm_style(0, False)


def drawn(
    values: np.ndarray, log: bool = False, band: BandKind = "range"
) -> tuple[go.Figure, list[str], Rails]:
    steps = np.arange(len(values), dtype=np.int64)
    figure, rails = blank("test", "step", "value", False), Rails(log)
    seeds = tuple(range(values.shape[1]))
    notes = draw_group(
        figure, rails, SeedGroup("arm", steps, values.astype(np.float64), seeds), STYLE, band=band
    )
    return figure, notes + rails.lay_out(figure), rails


def traces(figure: go.Figure, word: str) -> list[go.Scatter]:
    return [trace for trace in figure.data if word in (trace.name or "")]


def test_seeds_are_thin_the_mean_thick_and_the_legend_counts_them() -> None:
    figure, _, _ = drawn(np.array([[1.0, 3.0], [2.0, 4.0]]))
    seeds, (mean,) = traces(figure, "seed"), traces(figure, "mean")
    assert [list(trace.y) for trace in seeds] == [[1, 2], [3, 4]]
    assert list(mean.y) == [2, 3]
    assert mean.name == "arm: mean of 2, least to greatest"
    assert all(trace.line.width < mean.line.width for trace in seeds)
    assert mean.marker.symbol == STYLE.symbol
    assert [trace.name for trace in figure.data if trace.showlegend is not False] == [mean.name]


def test_the_band_is_the_student_interval_of_the_mean() -> None:
    values = np.array([[1.0, 2.0, 6.0], [2.0, 2.0, 2.0]])
    figure, _, _ = drawn(values, band="interval")
    assert traces(figure, "mean")[0].name == "arm: mean of 3, 95 % CI"
    (band,) = traces(figure, "arm, band")
    half = student_quantile(2) * np.array([np.std(row, ddof=1) for row in values]) / np.sqrt(3)
    np.testing.assert_allclose(band.y[:2], values.mean(axis=1) + half)
    np.testing.assert_allclose(band.y[2:][::-1], values.mean(axis=1) - half)


def test_at_first_the_band_spans_the_seeds() -> None:
    values = np.array([[1.0, 2.0, 6.0], [2.0, 2.0, 3.0]])
    (band,) = traces(drawn(values)[0], "arm, band")
    assert list(band.y) == [6.0, 3.0, 2.0, 1.0]


def test_one_seed_has_no_band_and_says_so() -> None:
    figure, _, _ = drawn(np.array([[1.0], [2.0]]))
    assert not traces(figure, "arm, band")
    assert [trace.name for trace in figure.data] == ["arm (1 seed, no band)"]


def test_a_spike_of_one_step_in_fifty_thousand_is_drawn() -> None:
    values = np.zeros((50_000, 2))
    values[31_415, 0] = 9.0
    figure, notes, _ = drawn(values)
    first = traces(figure, "seed 0")[0]
    assert len(first.x) <= POINTS
    assert first.y.max() == 9.0
    assert traces(figure, "mean")[0].y.max() == 4.5
    assert any("50,000 points shown as" in note for note in notes)


def test_nan_is_marked_at_the_last_finite_value_with_its_step() -> None:
    values = np.array([[1.0, 1.0], [2.0, 2.0], [np.nan, 3.0], [np.nan, 4.0]])
    figure, notes, _ = drawn(values)
    (cross,) = [trace for trace in figure.data if trace.marker.symbol == "x-thin"]
    assert (list(cross.x), list(cross.y), list(cross.text)) == ([1], [2.0], ["NaN at step 2"])
    assert "arm, seed 0: NaN at step 2, 2 points" in notes
    fewer = traces(figure, "fewer")[0]
    assert list(fewer.customdata) == [2, 2, 1, 1]
    assert traces(figure, "mean")[0].name == "arm: mean of 2, least to greatest, down to 1"


def test_a_log_axis_puts_what_it_cannot_show_on_labelled_rails() -> None:
    values = np.array([[1.0, 2.0], [0.0, 2.0], [-3.0, 2.0], [np.inf, 2.0], [10.0, 2.0]])
    figure, notes, _ = drawn(values, log=True)
    shown = next(t.y for t in traces(figure, "seed 0") if t.mode == "lines")
    np.testing.assert_array_equal(shown, [1.0, np.nan, np.nan, np.nan, 10.0])
    rails = {trace.yaxis: list(trace.x) for trace in figure.data if trace.yaxis in ("y2", "y3")}
    assert rails == {"y2": [1, 2], "y3": [3]}
    assert all("open" in t.marker.symbol for t in figure.data if t.yaxis in ("y2", "y3"))
    assert "2 points ≤ 0, on the labelled rail" in notes
    assert "1 point ∞, on the labelled rail" in notes
    assert figure.layout.yaxis.type == "log"
    assert list(figure.layout.yaxis2.ticktext) == ["≤ 0"]


def test_a_linear_axis_keeps_zero_and_has_no_rail() -> None:
    figure, notes, _ = drawn(np.array([[0.0, -1.0], [1.0, 1.0]]))
    assert list(traces(figure, "seed 1")[0].y) == [-1.0, 1.0]
    assert notes == []
    assert figure.layout.yaxis.type == "linear"


@pytest.mark.slow
@given(hnp.arrays(np.float64, (7, 3), elements=st.floats(allow_nan=True, allow_infinity=True, width=16)))
def test_every_value_is_drawn_or_counted(values: np.ndarray) -> None:
    for log in (False, True):
        figure, _, rails = drawn(values, log)
        shown = [t for t in figure.data if t.mode == "lines" and ", seed " in (t.name or "")]
        n_shown = sum(int(np.isfinite(np.asarray(t.y, dtype=float)).sum()) for t in shown)
        if log:
            assert n_shown == (np.isfinite(values) & (values > 0)).sum()
            assert rails.below == (np.isfinite(values) & (values <= 0)).sum()
            assert rails.above == (values == np.inf).sum()
        else:
            assert n_shown == np.isfinite(values).sum()


@given(hnp.arrays(np.float64, (4, 5), elements=st.floats(1e-3, 1e3)))
def test_on_a_log_axis_the_middle_is_the_median_between_the_extremes(values: np.ndarray) -> None:
    found = group_band(values, log=True)
    np.testing.assert_allclose(found.middle, np.median(values, axis=1))
    np.testing.assert_array_equal(found.low, values.min(axis=1))
    np.testing.assert_array_equal(found.high, values.max(axis=1))
    assert "median" in found.words


@pytest.mark.parametrize("dark", [False, True])
def test_arms_differ_in_colour_dash_and_marker(dark: bool) -> None:
    styles = [arm_style(i, dark) for i in range(6)]
    assert len({style.colour for style in styles}) == len({style.symbol for style in styles}) == 6
    assert len({style.dash for style in styles}) == 6
