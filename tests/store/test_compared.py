"""Groups on one axis: alignment, pairs, and differences against what is written out by hand."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    assert (gap.seeds, gap.apart) == ((3, 7), 0)
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


STEPS = st.lists(st.integers(0, 40), min_size=1, max_size=12, unique=True).map(sorted)


@given(STEPS, STEPS)
def test_a_pair_is_of_one_place_and_nothing_is_made_up(mine: list[int], theirs: list[int]) -> None:
    of = made([*map(float, mine)], np.array(mine, dtype=np.float64)[:, None] ** 2, (0,))
    reference = made([*map(float, theirs)], np.array(theirs, dtype=np.float64)[:, None], (0,))
    gap = difference(of, reference)
    both = sorted(set(mine) & set(theirs))
    assert gap.x.tolist() == both
    assert gap.values[:, 0].tolist() == [step**2 - step for step in both]
    first, last = max(mine[0], theirs[0]), min(mine[-1], theirs[-1])
    assert gap.apart == sum(first <= step <= last for step in set(mine) ^ set(theirs))


def test_without_a_common_step_there_is_no_difference_anywhere_between() -> None:
    of, reference = made([0, 10, 20], np.ones((3, 1)), (0,)), made([5, 15], np.zeros((2, 1)), (0,))
    gap = difference(of, reference)
    assert (len(gap.x), gap.values.shape, gap.apart) == (0, (0, 1), 3)


def test_a_value_that_is_none_makes_no_pair() -> None:
    of = made([0, 10, 20], np.array([[0.0], [np.nan], [2.0]]), (0,))
    gap = difference(of, made([0, 10, 20], np.zeros((3, 1)), (0,)))
    np.testing.assert_array_equal(gap.values[:, 0], [0.0, np.nan, 2.0])


def test_by_seconds_nothing_is_paired_since_arms_differ_in_their_pace(run: Run) -> None:
    standard, other = (group(run, arm, "test_accuracy", "seconds") for arm in ("standard", "other"))
    assert len(difference(other, standard).x) == 0


def test_the_clock_of_a_fork_begins_with_it(run: Run, tmp_path: Path) -> None:
    fork = {"run": "hand-made", "step": 20, "stages": [], "values": []}
    writer = RunWriter.create(tmp_path / "forked", run.experiment | {"fork": fork})
    writer.scalars(0, "test_accuracy", np.array([20, 30, 40]), np.ones((3, 2)))
    writer.status("done", 40, 9.0, "", arm_seconds={"standard": 2.0, "other": 6.0})
    writer.close()
    forked = open_run(tmp_path / "forked")
    assert group(forked, "standard", "test_accuracy", "seconds").x == pytest.approx([0, 1, 2])
    assert [line.seconds_per_step for line in summarize(forked, 0.9)] == pytest.approx([0.1, 0.3])


def test_places_are_looked_at_from_the_left_and_common_to_all() -> None:
    first = made([0, 10], np.array([[1.0], [2.0]]), (0,))
    place, values = at_place(first, 9.9)
    assert (place, values.tolist()) == (0.0, [1.0])
    place, values = at_place(first, -1)
    assert np.isnan(place) and np.isnan(values).all()
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
