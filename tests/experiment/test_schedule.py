"""The schedules: first and last step always, dense at first, never more than the budget."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.experiment.schedule import (
    BUDGET,
    FEWEST,
    evaluation_steps,
    next_step,
    snapshot_budget,
    snapshot_steps,
)

STEPS = st.integers(1, 200_000)


@given(steps=STEPS, budget=st.integers(3, 300), dense=st.integers(0, 40))
def test_snapshots_ascend_from_0_to_the_last_step_within_the_budget(
    steps: int, budget: int, dense: int
) -> None:
    chosen = snapshot_steps(steps, budget, dense)
    assert chosen[0] == 0 and chosen[-1] == steps and len(chosen) <= max(budget, 3)
    assert all(a < b for a, b in pairwise(chosen))


@given(steps=st.integers(400, 200_000), dense=st.integers(1, 40))
def test_the_first_steps_are_all_kept_and_gaps_then_grow(steps: int, dense: int) -> None:
    chosen = snapshot_steps(steps, 96, dense)
    assert chosen[: dense + 1] == tuple(range(dense + 1))
    gaps = [b - a for a, b in pairwise(chosen)]
    assert all(later >= earlier - 1 for earlier, later in pairwise(gaps[:-1]))
    assert gaps[-2] > gaps[0]


def test_a_run_within_its_budget_is_kept_at_every_step() -> None:
    assert snapshot_steps(20, 32) == tuple(range(21))


def test_evaluations_stand_at_0_every_so_often_and_at_the_end() -> None:
    assert evaluation_steps(50, 20) == (0, 20, 40, 50)
    assert evaluation_steps(40, 20) == (0, 20, 40)
    assert evaluation_steps(3, 20) == (0, 3)


@pytest.mark.parametrize(("after", "expected"), [(-1, 0), (0, 20), (19, 20), (20, 40), (50, None)])
def test_the_next_step_lies_beyond_the_present_one(after: int, expected: int | None) -> None:
    assert next_step((0, 20, 40, 50), after) == expected


def test_the_budget_falls_with_the_weight_of_a_snapshot_and_with_short_runs() -> None:
    assert snapshot_budget(100_000, 1000) == BUDGET
    assert snapshot_budget(100_000, 10**9) == FEWEST == snapshot_budget(10, 1000)
    assert snapshot_budget(1600, 1000) == 50
