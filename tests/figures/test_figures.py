"""Figures of a whole run: each against the numbers in its folder."""

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from sandbox.figures import Asked, accuracy_figure, draw, group_figure, groups_of, loss_figure
from sandbox.figures.readings import _draw
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.certificate import DOES_NOT_APPLY, HOLDS, Certificate
from sandbox.foundations.readings import Answer, Table
from sandbox.store import Run, open_run
from tests.live.synthetic import SyntheticRun


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    made = SyntheticRun(tmp_path / "a-run", steps=100, evaluate_every=10, read_every=25, nan_at=80)
    made.grow(100)
    made.writer.scalars(
        0, "test_accuracy/depth/depth 2", [50, 100], np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    )
    made.writer.reading(100, 0, "spectra", NotApplicable("There is no <b>matrix</b> here."))
    made.writer.reading(100, 0, "bounds", certificate())
    for step in (50, 100):
        made.writer.reading(step, 0, "spectra of a matrix", table(log=True))
        made.writer.reading(step, 0, "answers", table(log=False))
    made.finish()
    with open_run(tmp_path / "a-run") as opened:
        yield opened


def certificate() -> Certificate:
    """Two bounds of one head for three seeds: one that holds, one that means nothing here."""
    shape = (3, 2, 1, 1)
    applies = np.array([True, False]).reshape(1, 2, 1, 1) & np.ones(shape, dtype=bool)
    return Certificate(
        names=("tight", "elsewhere"),
        statements=("Theorem 1", "Theorem 2"),
        bound=np.where(applies, 8.0, np.nan),
        measured=np.where(applies, 5.0, np.nan),
        state=np.where(applies, HOLDS, DOES_NOT_APPLY),
        reason=np.where(applies, -1, 0),
        reasons=("more tokens than channels",),
        share=applies.astype(np.float64),
        unit="kappa",
    )


def table(*, log: bool) -> Table:
    """Three seeds, one head, two rows and two columns; both rows' true column is the second."""
    cells = np.broadcast_to([[0.25, 0.75], [0.5, 0.5]], (3, 1, 1, 2, 2)) + np.zeros((3, 1, 1, 2, 2))
    return Table(
        cells=cells, rows=("first", "<b>second</b>"), columns=("a", "b"), unit="u", log=log,
        truth=() if log else (1, 1),
    )  # fmt: skip


def asked(run: Run, kind: str, **more: object) -> Asked:
    steps = run.reading_steps(kind, run.arms[0])
    return Asked(**({"run": run, "kind": kind, "arm": run.arms[0], "seed": 1, "step": int(steps[-1])} | more))  # type: ignore[arg-type]


def test_every_type_of_answer_has_a_drawing() -> None:
    for kind in get_args(Answer):
        assert _draw.dispatch(kind) is not _draw.dispatch(object), kind


def test_accuracy_is_drawn_as_recorded_with_chance_and_majority(run: Run) -> None:
    drawing = accuracy_figure(run)
    for arm in run.arms:
        steps, values = run.group_curve("test_accuracy", arm)
        (line,) = [t for t in drawing.figure.data if t.name == f"{arm}, seed 2"]
        np.testing.assert_array_equal(line.x, steps)
        np.testing.assert_array_equal(line.y, values[:, 2])
    lines = run.lines["accuracy"]
    assert sorted(shape.y0 for shape in drawing.figure.layout.shapes) == sorted(lines.values())
    assert [note.text for note in drawing.figure.layout.annotations] == [
        " · ".join(sorted(lines, key=lines.get))
    ]
    assert drawing.alt.startswith("Accuracy over steps")


def test_train_is_dashed_and_held_out_solid(run: Run) -> None:
    figure = loss_figure(run).figure
    dashes = {("train" in t.name): t.line.dash for t in figure.data if "mean of" in (t.name or "")}
    assert dashes == {True: "dash", False: "solid"}


def test_the_batch_loss_shows_where_a_seed_diverged(run: Run) -> None:
    drawing = loss_figure(run, batches=True, log=True)
    assert any("NaN at step 80" in note for note in drawing.notes)


def test_accuracy_by_group_shows_its_rows(run: Run) -> None:
    assert groups_of(run) == {"depth": ["depth 2"]}
    (mean,) = [t for t in group_figure(run, "depth", "depth 2").figure.data if "mean of" in (t.name or "")]
    np.testing.assert_allclose(mean.y, [0.2, 0.5])


def test_a_bracket_has_both_its_ends(run: Run) -> None:
    drawing = draw(asked(run, "theta", column="lower", head=1))
    for name, dash in (("lower", "solid"), ("upper", "dot")):
        _, values = run.reading_column("theta", name, "standard")
        title = "standard: median of 3, least to greatest" if dash == "solid" else "standard, upper: median"
        (line,) = [t for t in drawing.figure.data if (t.name or "").startswith(title)]
        np.testing.assert_allclose(line.y, np.median(values[:, :, 0, 1], axis=1))
        assert line.line.dash == dash
    assert drawing.figure.layout.yaxis.type == "log"


def test_condition_numbers_are_those_of_the_chosen_matrix_and_head(run: Run) -> None:
    drawing = draw(asked(run, "condition numbers", column="key", head=0))
    _, values = run.reading_column("condition numbers", "key", "preconditioned")
    (line,) = [t for t in drawing.figure.data if t.name == "preconditioned, seed 0"]
    np.testing.assert_array_equal(line.y, values[:, 0, 0, 0])


def test_points_stand_where_they_were_recorded(run: Run) -> None:
    drawing = draw(asked(run, "trajectories"))
    points = run.reading("trajectories", 100, "standard", 1).points[0]
    drawn = np.concatenate([np.stack([t.x, t.y], axis=1) for t in drawing.figure.data if t.mode == "markers"])
    assert sorted(map(tuple, drawn.tolist())) == sorted(map(tuple, points.astype(float).tolist()))
    assert any("61 %" in note for note in drawing.notes)


def test_the_map_has_the_fixed_scale_and_the_recorded_weights(run: Run) -> None:
    drawing = draw(asked(run, "attention map", head=1))
    heat = next(t for t in drawing.figure.data if t.type == "heatmap")
    weights = run.reading("attention map", 100, "standard", 1).weights[0, 0, 1]
    assert (heat.zmin, heat.zmax) == (0, 1)
    np.testing.assert_array_equal(np.asarray(heat.z, dtype=np.float32), weights)
    assert f"{weights.max():.3f}" in drawing.alt


def test_what_does_not_apply_is_drawn_as_its_sentence_without_tags(run: Run) -> None:
    drawing = draw(Asked(run=run, kind="spectra", arm="standard", seed=0, step=100))
    assert drawing.alt == "There is no <b>matrix</b> here."
    assert "<" not in drawing.figure.layout.annotations[0].text


def test_a_certificate_that_does_not_apply_is_said_and_has_no_number(run: Run) -> None:
    drawing = draw(Asked(run=run, kind="bounds", arm="standard", seed=1, step=100))
    assert {t.name: list(t.y) for t in drawing.figure.data} == {
        "tight, measured": [5.0],
        "tight, bound": [8.0],
    }
    assert {mark for t in drawing.figure.data for mark in t.marker.symbol} == {"circle"}
    assert "tight: holds. Theorem 1" in drawing.notes
    assert any(note.startswith("elsewhere: does not apply: more tokens") for note in drawing.notes)


def test_zoom_survives_because_the_same_figure_keeps_its_name(run: Run) -> None:
    first, second = accuracy_figure(run).figure, accuracy_figure(run, dark=True).figure
    assert first.layout.uirevision == second.layout.uirevision
    assert first.layout.uirevision != loss_figure(run).figure.layout.uirevision


@pytest.mark.parametrize("dark", [False, True])
def test_every_reading_of_a_run_can_be_drawn(run: Run, dark: bool) -> None:
    for kind in run.reading_kinds("standard"):
        steps = run.reading_steps(kind, "standard")
        step = int(steps[-1]) if len(steps) else 100
        drawing = draw(Asked(run=run, kind=kind, arm="standard", seed=0, step=step, dark=dark))
        assert drawing.alt


def test_a_spectrum_is_drawn_line_by_line_over_the_steps(run: Run) -> None:
    drawing = draw(asked(run, "spectra of a matrix"))
    lines = [trace for trace in drawing.figure.data if trace.mode == "lines"]
    assert [(tuple(line.x), tuple(line.y)) for line in lines] == [
        ((50, 100), (value, value)) for value in (0.25, 0.5, 0.75, 0.5)
    ]
    assert [line.name for line in lines if line.showlegend] == ["a", "b"]
    assert "a from 0.5 to 0.25" in drawing.alt


def test_answers_are_cells_with_the_truth_marked_and_counted(run: Run) -> None:
    drawing = draw(asked(run, "answers"))
    heat, truth = drawing.figure.data
    np.testing.assert_array_equal(heat.z, [[0.25, 0.75], [0.5, 0.5]])
    assert (heat.zmin, heat.zmax) == (0, 1) and tuple(truth.x) == (1, 1)
    assert any(note.startswith("1 of 2 answered right") for note in drawing.notes)
    assert all("<b>" not in text for text in drawing.figure.layout.yaxis.ticktext)
