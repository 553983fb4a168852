"""Comparing figures: statistics that do not depend on what else is shown, n at every place, fixed scales."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from sandbox.figures.compare import (
    Look,
    difference_figure,
    grid_figure,
    nothing_shared,
    overlay_figure,
    seed_cells,
    side_by_side_figure,
)
from sandbox.figures.plotted import plotted_csv
from sandbox.mathematics.group_band import BANDS, BandKind, group_band
from sandbox.store.compared import Compared, difference

X = np.arange(0.0, 50.0, 10.0)


def made(label: str, shift: float = 0.0, seeds: int = 3, place: int = 0) -> Compared:
    values = shift + X[:, None] / 100 + 0.01 * np.arange(seeds)
    return Compared(label, f"run-{label}", label, tuple(range(seeds)), X, values, place)


def means(figure: object, label: str) -> np.ndarray:
    (trace,) = [t for t in figure.data if (t.name or "").startswith(f"{label}: ")]  # type: ignore[attr-defined]
    return np.array(trace.y)


def test_a_groups_mean_does_not_depend_on_what_else_is_shown() -> None:
    first, second = made("a"), made("b", 0.3, place=1)
    alone = overlay_figure([first], "test_accuracy", Look()).figure
    both = overlay_figure([second, first], "test_accuracy", Look()).figure
    np.testing.assert_array_equal(means(alone, "a"), means(both, "a"))
    np.testing.assert_allclose(means(alone, "a"), first.values.mean(axis=1))


def test_a_group_keeps_its_colour_whatever_else_is_shown() -> None:
    second = made("b", place=1)
    colours = {
        trace.line.color
        for groups in ([second], [made("a"), second])
        for trace in overlay_figure(groups, "loss", Look()).figure.data
        if (trace.name or "").startswith("b: ")
    }
    assert len(colours) == 1


def test_every_mean_says_how_many_seeds_stand_behind_it() -> None:
    group = made("a")
    group.values[3:, 0] = np.nan
    figure = overlay_figure([group], "loss", Look()).figure
    (trace,) = [t for t in figure.data if (t.name or "").startswith("a: ")]
    assert list(trace.customdata) == [3, 3, 3, 2, 2]
    assert "mean of 3" in trace.name
    assert "down to 2" in trace.name
    fewer = [t for t in figure.data if "fewer seeds" in (t.name or "")]
    assert fewer[0].line.dash == "dot"


def test_one_seed_has_no_band() -> None:
    figure = overlay_figure([made("a", seeds=1)], "loss", Look()).figure
    assert not [t for t in figure.data if "band" in (t.name or "") and t.fill]
    assert any("1 seed, no band" in (t.name or "") for t in figure.data)


def test_smoothing_leaves_the_raw_seeds_behind() -> None:
    group = made("a")
    group.values[2] += 1.0
    raw = overlay_figure([group], "loss", Look()).figure
    smooth = overlay_figure([group], "loss", Look(smooth=1)).figure
    seeds = [next(t for t in f.data if (t.name or "") == "a, seed 1").y for f in (raw, smooth)]
    np.testing.assert_array_equal(*seeds)
    assert means(smooth, "a")[2] < means(raw, "a")[2]


@pytest.mark.parametrize("kind", BANDS)
def test_a_band_is_of_its_group_alone_whatever_kind_it_is(kind: BandKind) -> None:
    first, second = made("a"), made("b", 0.3, place=1)

    def drawn(groups: list[Compared]) -> list[float]:
        figure = overlay_figure(groups, "loss", Look(band=kind)).figure
        (band,) = [t for t in figure.data if t.name == "a, band"]
        return list(band.y)

    assert drawn([first]) == drawn([second, first])
    found = group_band(first.values, kind)
    assert drawn([first]) == [*found.high, *found.low[::-1]]


def test_pairs_that_are_missing_are_counted_below_the_difference() -> None:
    other = made("b")
    gap = difference(replace(other, x=other.x[::2], values=other.values[::2]), made("a"))
    drawing = difference_figure([gap], [None], "loss", Look())
    assert any("at the 3 places where both" in note and "none at the 2" in note for note in drawing.notes)
    assert "at the same second" in nothing_shared("seconds")


def test_nan_and_zero_on_a_log_axis_are_marked_and_counted() -> None:
    group = made("a")
    group.values[1, 0], group.values[4, 1] = 0.0, np.nan
    drawing = overlay_figure([group], "loss", Look(log=True))
    notes = " ".join(drawing.notes)
    assert "≤ 0" in notes
    assert "NaN at step 40" in notes


def test_a_difference_is_drawn_seed_by_seed_with_the_given_interval() -> None:
    gap = difference(made("b", 0.3, place=1), made("a"))
    low, high = np.full(5, 0.2), np.full(5, 0.4)
    drawing = difference_figure([gap], [(low, high)], "test_accuracy", Look(share=True))
    names = [t.name for t in drawing.figure.data]
    assert [n for n in names if "seed" in n] == ["b, seed 0", "b, seed 1", "b, seed 2"]
    (band,) = [t for t in drawing.figure.data if t.fill]
    assert {*band.y} == {0.2, 0.4}
    np.testing.assert_allclose(means(drawing.figure, "b"), 0.3)
    assert "less that of a" in drawing.figure.layout.yaxis.title.text
    assert any("bootstrap" in note for note in drawing.notes)


def test_without_pairs_the_figure_says_so() -> None:
    other = Compared("b", "r", "b", (7, 8), X, np.ones((5, 2)))
    drawing = difference_figure([difference(other, made("a"))], [None], "loss", Look())
    assert "share seeds" in drawing.alt


@pytest.mark.parametrize("log", [False, True])
def test_all_cells_have_one_scale(log: bool) -> None:
    groups = [made("a", 0.1), made("b", 5.0, place=1)]
    for drawing in (
        side_by_side_figure(groups, "loss", Look(log=log)),
        grid_figure(seed_cells(groups, [0, 1, 9]), ["a", "b"], ["0", "1", "9"], "loss", Look(log=log)),
    ):
        ranges = {tuple(axis.range) for axis in drawing.figure.select_yaxes()}
        assert len(ranges) == 1
        low, high = ranges.pop()
        assert (10**low if log else low) < 0.11
        assert (10**high if log else high) > 5.4


def test_the_csv_of_a_grid_holds_what_is_drawn() -> None:
    groups = [made("a"), made("b", 1.0, place=1)]
    figure = grid_figure(seed_cells(groups, [0, 2]), ["a", "b"], ["s0", "s2"], "loss", Look()).figure
    rows = list(csv.DictReader(io.StringIO(plotted_csv(figure))))
    assert {row["trace"] for row in rows} == {"a · s0", "a · s2", "b · s0", "b · s2"}
    values = [float(row["y"]) for row in rows if row["trace"] == "b · s2"]
    np.testing.assert_allclose(values, groups[1].values[:, 2])
    assert {row["place"] for row in rows} == {"plot"}


def test_labels_are_taken_literally() -> None:
    figure = overlay_figure([made("<b>x</b>")], "loss", Look()).figure
    assert all("<b>" not in (t.name or "") for t in figure.data)


def test_what_nobody_recorded_is_said() -> None:
    empty = Compared("a", "r", "a", (0,), np.zeros(0), np.zeros((0, 1)))
    for drawing in (overlay_figure([empty], "loss", Look()), side_by_side_figure([empty], "loss", Look())):
        assert "None of these groups has recorded loss." in drawing.alt
