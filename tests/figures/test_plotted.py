"""The CSV of a figure: every drawn point of every line, cell and level, and nothing else."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.figures import Asked, accuracy_figure, draw, loss_figure, plotted_csv
from sandbox.figures.plotted import COLUMNS
from sandbox.store import Run, open_run
from tests.live.synthetic import SyntheticRun

NUMBERS = st.floats(width=64)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    made = SyntheticRun(tmp_path / "a-run", steps=100, evaluate_every=10, read_every=25, nan_at=80)
    made.grow(100)
    made.finish()
    with open_run(tmp_path / "a-run") as opened:
        yield opened


def table(figure: go.Figure) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(plotted_csv(figure), newline="")))


def test_a_seeds_line_is_there_as_recorded_with_its_nan(run: Run) -> None:
    rows = [row for row in table(loss_figure(run).figure) if row["trace"] == "standard, seed 2"]
    steps, values = run.curve("test_loss", "standard", 2)
    assert [int(row["x"]) for row in rows] == steps.tolist()
    np.testing.assert_array_equal([float(row["y"]) for row in rows], values)
    assert np.isnan(values).sum() == 3


def test_the_mean_says_how_many_seeds_stand_behind_it(run: Run) -> None:
    rows = [row for row in table(loss_figure(run).figure) if "standard: mean of" in row["trace"]]
    assert {row["n"] for row in rows} == {"2", "3"}
    lines = [row for row in table(accuracy_figure(run).figure) if row["place"] == "level"]
    assert [(row["y"], row["text"]) for row in lines] == [
        ("0.5", "chance · majority class"),
        ("0.513", ""),
    ]


def test_every_trace_is_there_point_for_point(run: Run) -> None:
    for log in (False, True):
        figure = loss_figure(run, log=log, batches=True).figure
        rows = [row for row in table(figure) if row["place"] != "level"]
        assert len(rows) == sum(len(trace.x) for trace in figure.data)
        assert [row["trace"] for row in rows[:1]] == [figure.data[0].name]


def test_an_attention_map_is_there_cell_for_cell_with_its_labels(run: Run) -> None:
    answer = run.reading("attention map", 100, "standard", 1)
    asked = Asked(run=run, kind="attention map", arm="standard", seed=1, step=100, head=1)
    rows = table(draw(asked).figure)
    weights = answer.weights[0, 0, 1]  # type: ignore[union-attr]
    assert len(rows) == weights.size
    found = {(int(row["x"]), int(row["y"])): float(row["z"]) for row in rows}
    for (query, key), weight in np.ndenumerate(weights):
        assert found[key, query] == weight
    assert rows[1]["text"] == "0 at 1 looks at 1 at 2"


def test_values_that_the_axis_cannot_show_stand_on_their_rail(run: Run) -> None:
    made = SyntheticRun(run.path.parent / "b", arms=1, seeds=1, steps=20, evaluate_every=10)
    made.grow(20)
    made.writer.scalars(0, "test_loss", [20], np.array([[-1.0]]))
    made.finish()
    with open_run(run.path.parent / "b") as other:
        rows = table(loss_figure(other, log=True).figure)
    (rail,) = [row for row in rows if row["place"] == "rail"]
    assert (rail["x"], rail["y"], rail["text"]) == ("20", "", "at or below 0")


@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=6), st.text(max_size=9))
def test_any_numbers_and_any_name_come_back(points: list[tuple[float, float]], name: str) -> None:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    escaped = name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    rows = table(go.Figure(go.Scatter(x=xs, y=ys, name=escaped)))
    np.testing.assert_array_equal([[float(row["x"]), float(row["y"])] for row in rows] or np.zeros((0, 2)),
                                  np.array(points).reshape(-1, 2))  # fmt: skip
    assert {row["trace"] for row in rows} <= {name}
    assert tuple(plotted_csv(go.Figure()).strip().split(",")) == COLUMNS
