"""Phases: named by the stated rule, without gaps, and not by noise."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sandbox.foundations.errors import InvalidData
from sandbox.mathematics.phases import name_phases

CHANCE = float(np.log(2))
STEPS = np.arange(0, 300, 10)


def test_a_run_that_clusters_and_then_fits_has_three_phases_in_order() -> None:
    losses = np.where(STEPS < 200, 0.69, 0.05)
    within = np.where(STEPS < 100, 0.9, 0.01)
    found = name_phases(STEPS, losses, within, CHANCE)
    assert [(p.name, p.first, p.last) for p in found] == [
        ("plateau", 0, 90),
        ("clustering", 100, 190),
        ("fitting", 200, 290),
    ]
    assert "at least 90%" in found[0].rule


def test_a_run_that_fits_without_clusters_is_not_said_to_cluster() -> None:
    losses = np.linspace(0.69, 0.01, len(STEPS))
    found = name_phases(STEPS, losses, np.full(len(STEPS), 0.79), CHANCE)
    assert [p.name for p in found] == ["plateau", "fitting"]


def test_one_noisy_point_names_nothing() -> None:
    losses = np.full(len(STEPS), 0.69)
    losses[[10, 20]] = 0.1
    assert [p.name for p in name_phases(STEPS, losses, np.ones(len(STEPS)), CHANCE)] == ["plateau"]


@pytest.mark.parametrize(("lower", "said"), [((-1,), "fitting"), ((-2, -1), "fitting"), ((), "")])
def test_the_last_points_are_changing_and_name_a_phase_where_the_run_has_ended(
    lower: tuple[int, ...], said: str
) -> None:
    losses = np.full(len(STEPS), 0.69)
    losses[list(lower)] = 0.1
    rest = [(290 - 10 * (len(lower) - 1), "changing")] if lower else []
    found = name_phases(STEPS, losses, np.ones(len(STEPS)), CHANCE)
    assert [(p.first, p.name) for p in found] == [(0, "plateau"), *rest]
    ended = name_phases(STEPS, losses, np.ones(len(STEPS)), CHANCE, ended=True)
    assert [p.name for p in ended] == ["plateau", *([said] if said else [])]


def test_what_is_not_a_number_is_unknown() -> None:
    losses = np.where(STEPS < 200, 0.69, np.nan)
    found = name_phases(STEPS, losses, np.ones(len(STEPS)), CHANCE)
    assert [p.name for p in found] == ["plateau", "unknown"]


def test_the_first_phase_begins_at_the_first_step_though_no_loss_is_known_there_yet() -> None:
    losses = np.where(STEPS < 30, np.nan, 0.69)
    found = name_phases(STEPS, losses, np.ones(len(STEPS)), CHANCE)
    assert [(p.name, p.first) for p in found] == [("plateau", 0)]
    unknown = name_phases(STEPS, np.full(len(STEPS), np.nan), np.ones(len(STEPS)), CHANCE)
    assert [(p.name, p.first) for p in unknown] == [("unknown", 0)]


numbers = arrays.arrays(np.float64, 30, elements=st.floats(0, 2))


@given(numbers, numbers)
def test_phases_cover_every_step_once(losses: np.ndarray, within: np.ndarray) -> None:
    found = name_phases(STEPS, losses, within, CHANCE)
    assert found[0].first == 0 and found[-1].last == 290
    assert all(a.last + 10 == b.first for a, b in pairwise(found))
    assert all(a.name != b.name for a, b in pairwise(found))


def test_a_chance_loss_of_zero_is_refused() -> None:
    with pytest.raises(InvalidData, match="must be positive"):
        name_phases(STEPS, np.ones(30), np.ones(30), 0.0)
    assert name_phases(STEPS[:0], np.ones(0), np.ones(0), CHANCE) == []
