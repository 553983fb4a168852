"""Smoothing and ghosts in the study's figures: nothing is invented, and the raw line stays (C4, C20)."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import sandbox
from sandbox.experiment.experiment import load
from sandbox.figures import Asked, accuracy_figure, draw, loss_figure
from sandbox.figures.drawing import blank
from sandbox.figures.groups import SeedGroup, draw_group
from sandbox.figures.levels import reference_lines
from sandbox.figures.palette import arm_style
from sandbox.figures.rails import Rails
from sandbox.mathematics.smoothing import moving_mean
from sandbox.runner.fork_plan import Plan, forked
from sandbox.runner.forking import make_folder
from sandbox.store import Run, open_run
from tests.runner.small import tiny_experiment

STYLE = arm_style(0, False)


def drawn(values: np.ndarray, reach: int, log: bool = False) -> go.Figure:
    """A group of seeds, smoothed."""
    figure, rails = blank("test", "step", "value", False), Rails(log)
    seeds = tuple(range(values.shape[1]))
    group = SeedGroup("arm", np.arange(len(values), dtype=np.int64), values, seeds)
    draw_group(figure, rails, group, STYLE, reach=reach)
    rails.lay_out(figure)
    return figure


def named(figure: go.Figure, words: str) -> list[go.Scatter]:
    return [trace for trace in figure.data if words in (trace.name or "")]


def joined(figure: go.Figure) -> np.ndarray:
    """The thick line, its dotted stretch of fewer seeds included."""
    thick = named(figure, "mean of")[0].y
    fewer = named(figure, "fewer seeds")
    return np.where(np.isnan(thick), fewer[0].y, thick) if fewer else np.asarray(thick)


@pytest.mark.parametrize("reach", [2, 8])
def test_constants_stay_gaps_stay_and_the_raw_line_is_behind(reach: int) -> None:
    values = np.tile(np.array([[1e-7, 1e-7]]), (60, 1))
    np.testing.assert_array_equal(joined(drawn(values, reach)), values[:, 0])
    random = np.random.default_rng(5).normal(size=(60, 2))
    random[20:23] = np.nan
    smooth = joined(drawn(random, reach))
    mean = random.mean(axis=1)
    np.testing.assert_allclose(smooth, moving_mean(mean, reach))
    assert np.isnan(smooth[20:23]).all() and np.isfinite(np.delete(smooth, [20, 21, 22])).all()
    (raw,) = named(drawn(random, reach), "not smoothed")
    np.testing.assert_array_equal(raw.y, mean)


@given(hnp.arrays(np.float64, (12, 1), elements=st.floats(-5, 5)), st.sampled_from([1, 2, 8]))
def test_one_seed_keeps_its_raw_line_and_gets_a_smooth_one(values: np.ndarray, reach: int) -> None:
    figure = drawn(values, reach)
    (raw,) = named(figure, "arm, seed 0")
    np.testing.assert_array_equal(raw.y, values[:, 0])
    (smooth,) = named(figure, "1 seed, no band")
    np.testing.assert_allclose(smooth.y, moving_mean(values[:, 0], reach), atol=1e-12)


def test_on_a_log_axis_nothing_is_averaged_across_what_the_axis_cannot_hold() -> None:
    values = np.full((9, 2), 4.0)
    values[4] = -1.0
    smooth = named(drawn(values, 2, log=True), "median of")[0].y
    assert np.isnan(smooth[4]) and (np.delete(np.asarray(smooth, float), 4) == 4.0).all()


@pytest.fixture(scope="module")
def child(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """A run that waits to go on from step 5 of one of 9 steps."""
    home: Path = tmp_path_factory.mktemp("figures")
    parent = sandbox.train(tiny_experiment(steps=9), home / "old-parent")
    plain = forked(parent, Plan(step=5, settings=[(None, "batch_size", 8)]))
    make_folder(home / "child", parent, load(plain).to_plain())
    sandbox.train(load(plain), home / "child").close()
    with open_run(home / "child") as run:
        yield run
    parent.close()


def test_the_parent_stands_behind_every_curve_of_the_study(child: Run) -> None:
    parent = open_run(child.path.parent / "old-parent")
    arm = child.arms[0]
    for figure, name in ((loss_figure(child), "test_loss"), (accuracy_figure(child), "test_accuracy")):
        ghost = named(figure.figure, f"{arm}, parent")[0]
        steps, values = parent.group_curve(name, arm)
        np.testing.assert_array_equal(ghost.x, steps)
        np.testing.assert_allclose(ghost.y, values.mean(axis=1))
        assert any("pale lines are the parent, old-parent" in note for note in figure.notes)
    asked = Asked(child, "condition numbers", arm, child.seeds[0], 9, column="query")
    figure = draw(asked)
    ghost = named(figure.figure, f"{arm}, parent")[0]
    steps, values = parent.reading_column("condition numbers", "query", arm)
    np.testing.assert_array_equal(ghost.x, steps)
    np.testing.assert_allclose(ghost.y, np.median(values[:, :, 0, 0].astype(float), axis=1))
    parent.close()


def test_a_run_without_a_parent_has_no_ghost(child: Run) -> None:
    with open_run(child.path.parent / "old-parent") as parent:
        drawing = loss_figure(parent)
    assert named(drawing.figure, "parent") == []
    assert not any("parent" in note for note in drawing.notes)


def test_levels_that_would_overprint_one_another_share_their_words() -> None:
    def words(levels: dict[str, float], high: float) -> list[str]:
        figure = blank("test", "step", "value", False)
        figure.add_scatter(x=[0, 1], y=[0.0, high])
        reference_lines(figure, levels)
        assert len(figure.layout.shapes) == len(levels)
        return [annotation.text for annotation in figure.layout.annotations]

    near = {"chance": 0.50, "majority class": 0.53}
    assert words(near, 1.0) == ["chance · majority class"]
    assert words(near, 0.1) == ["chance", "majority class"]


def test_the_name_of_a_level_stands_where_no_curve_runs_else_in_the_margin() -> None:
    def stands(*curves: list[float]) -> tuple[float, str, str, float]:
        figure = blank("test", "step", "value", False)
        figure.update_yaxes(range=[0, 1])
        for curve in curves:
            figure.add_scatter(x=np.arange(len(curve)), y=curve, mode="lines")
        reference_lines(figure, {"chance": 0.5})
        (name,) = figure.layout.annotations
        return name.x, name.xanchor, name.yanchor, figure.layout.margin.r

    usual = blank("test", "step", "value", False).layout.margin.r
    assert stands([0.9, 0.9, 0.9]) == (1, "right", "top", usual)
    assert stands([0.9, 0.49, 0.49]) == (1, "right", "bottom", usual)
    assert stands([0.9, 0.9, 0.51, 0.51], [0.9, 0.9, 0.49, 0.49]) == (0, "left", "top", usual)
    assert stands([0.51] * 4, [0.49] * 4) == (1, "left", "middle", 50)
