"""Groups on one axis: alignment, pairs, and differences against what is written out by hand."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sandbox.foundations.errors import InvalidData
from sandbox.store import Run, RunWriter, open_run
from sandbox.store.compared import (
    TARGET_REACHED,
    Compared,
    at_place,
    difference,
    event_steps,
    events,
    group,
    last_common,
    metrics,
)
from sandbox.store.summary import summarize

ACCURACY = np.array([[0.1, 0.2], [0.4, 0.3], [0.9, 0.5], [1.0, 0.95], [1.0, 0.99]])


@pytest.fixture
def run(tmp_path: Path) -> Run:
    plain = {
        "schema": 1, "task": {"kind": "listops"}, "model": {"kind": "encoder"}, "batch_size": 32,
        "steps": 40, "evaluate_every": 10, "seeds": [3, 7], "arms": [{"name": "standard"}, {"name": "other"}],
    }  # fmt: skip
    writer = RunWriter.create(tmp_path / "hand-made", plain)
    writer.describe(target={"curve": "test_accuracy", "value": 0.9})
    for arm in range(2):
        writer.scalars(arm, "test_accuracy", np.arange(0, 50, 10), ACCURACY - 0.05 * arm)
    writer.event(25, "loss spike", "high", arm=0, seed=7)
    writer.status("done", 40, 8.0, "", arm_seconds={"standard": 2.0, "other": 6.0})
    writer.close()
    return open_run(tmp_path / "hand-made")


def test_axes_are_steps_examples_and_seconds_of_the_arm(run: Run) -> None:
    assert group(run, "other", "test_accuracy").x.tolist() == [0, 10, 20, 30, 40]
    assert group(run, "other", "test_accuracy", "examples").x.tolist() == [0, 320, 640, 960, 1280]
    assert group(run, "other", "test_accuracy", "seconds").x == pytest.approx([0, 1.5, 3.0, 4.5, 6.0])


def test_aligned_by_an_event_every_seed_is_shifted_by_itself(run: Run) -> None:
    assert event_steps(run, "standard", TARGET_REACHED).tolist() == [20, 30]
    found = group(run, "standard", "test_accuracy", "event", TARGET_REACHED)
    assert found.x.tolist() == [-30, -20, -10, 0, 10, 20]
    np.testing.assert_array_equal(found.values[:, 0], [np.nan, 0.1, 0.4, 0.9, 1.0, 1.0])
    np.testing.assert_array_equal(found.values[:, 1], [0.2, 0.3, 0.5, 0.95, 0.99, np.nan])
    assert found.left_out == 0


def test_a_seed_without_the_event_is_left_out_and_counted(run: Run) -> None:
    found = group(run, "standard", "test_accuracy", "event", "loss spike")
    assert events(run, "standard") == [TARGET_REACHED, "loss spike"]
    assert events(run, "other") == [TARGET_REACHED]
    assert found.left_out == 1
    assert np.isnan(found.values[:, 0]).all()
    assert found.values[found.x == 0, 1] == [0.5]


def test_differences_are_between_equal_seeds(run: Run) -> None:
    standard, other = (group(run, arm, "test_accuracy") for arm in ("standard", "other"))
    gap = difference(other, standard)
    assert (gap.seeds, gap.interpolated) == ((3, 7), False)
    np.testing.assert_allclose(gap.values, -0.05)


def test_a_seed_has_no_value_from_where_its_loss_is_none(run: Run, tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path / "lost", run.experiment)
    losses = np.array([[1.0, 1.0], [1.0, np.nan], [1.0, np.nan]])
    writer.scalars(0, "test_loss", np.array([0, 10, 20]), losses)
    writer.scalars(0, "test_accuracy", np.array([0, 10, 20]), np.full((3, 2), 0.5))
    writer.scalars(1, "loss", np.array([0, 1]), np.array([[np.inf, 1.0], [np.inf, 1.0]]))
    writer.scalars(1, "test_accuracy", np.array([0]), np.full((1, 2), 0.5))
    writer.close()
    lost = open_run(tmp_path / "lost")
    found = group(lost, "standard", "test_accuracy")
    np.testing.assert_array_equal(found.values, [[0.5, 0.5], [0.5, np.nan], [0.5, np.nan]])
    np.testing.assert_array_equal(group(lost, "other", "test_accuracy").values, [[np.nan, 0.5]])
    lines = {line.arm: line for line in summarize(lost, 0.9)}
    assert [lines[arm].diverged for arm in ("standard", "other")] == [1, 1]


def made(x: list[float], values: np.ndarray, seeds: tuple[int, ...], label: str = "made") -> Compared:
    return Compared(label, "r", "a", seeds, np.array(x, dtype=np.float64), values)


def test_seeds_are_paired_by_their_number_not_their_place() -> None:
    left = made([0], np.array([[1.0, 2.0, 3.0]]), (1, 2, 3))
    right = made([0], np.array([[30.0, 10.0]]), (3, 1))
    gap = difference(left, right)
    assert gap.seeds == (1, 3)
    assert gap.values.tolist() == [[-9.0, -27.0]]


def test_without_a_shared_seed_there_is_no_pair() -> None:
    gap = difference(made([0], np.ones((1, 1)), (1,)), made([0], np.ones((1, 1)), (2,)))
    assert (gap.seeds, gap.values.shape) == ((), (1, 0))


@given(arrays(np.float64, 2, elements=st.floats(-5, 5)))
def test_a_straight_line_is_interpolated_exactly(line: np.ndarray) -> None:
    places = np.array([0.0, 3.0, 4.0, 10.0])
    of = made(places.tolist(), (line[0] + line[1] * places)[:, None], (0,))
    grid = [0.0, 1.0, 2.5, 9.0, 10.0, 12.0]
    gap = difference(of, made(grid, np.zeros((6, 1)), (0,)))
    assert gap.interpolated
    assert gap.x.tolist() == grid[:-1]
    np.testing.assert_allclose(gap.values[:, 0], line[0] + line[1] * gap.x, atol=1e-9)


def test_nothing_is_interpolated_from_what_is_no_number() -> None:
    of = made([0, 10, 20], np.array([[0.0], [np.nan], [2.0]]), (0,))
    gap = difference(of, made([0, 5, 15, 20], np.zeros((4, 1)), (0,)))
    np.testing.assert_array_equal(gap.values[:, 0], [0.0, np.nan, np.nan, 2.0])


def test_places_are_looked_at_from_the_left_and_common_to_all() -> None:
    first = made([0, 10], np.array([[1.0], [2.0]]), (0,))
    assert at_place(first, 9.9).tolist() == [1.0]
    assert np.isnan(at_place(first, -1)).all()
    assert last_common([first, made([0, 5], np.ones((2, 1)), (0,))]) == 5
    assert np.isnan(last_common([first, made([], np.ones((0, 1)), (0,))]))


def test_what_was_not_measured_is_said(run: Run, tmp_path: Path) -> None:
    plain = run.experiment | {"arms": [{"name": "a"}, {"name": "b"}]}
    del plain["batch_size"]
    RunWriter.create(tmp_path / "silent", plain).close()
    silent = open_run(tmp_path / "silent")
    for axis, word in (("seconds", "time of arm"), ("examples", "batch size")):
        with pytest.raises(InvalidData, match=word):
            group(silent, "a", "test_accuracy", axis)  # type: ignore[arg-type]
    assert group(silent, "a", "test_accuracy").values.shape == (0, 2)
    assert metrics(silent, "a") == []


def test_smoothing_one_seed_leaves_the_other_alone() -> None:
    values = np.array([[0.0, 5.0], [2.0, np.nan], [4.0, 5.0]])
    smooth = made([0, 1, 2], values, (0, 1)).smoothed(1)
    np.testing.assert_array_equal(smooth.values[:, 0], [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(smooth.values[:, 1], [5.0, np.nan, 5.0])
