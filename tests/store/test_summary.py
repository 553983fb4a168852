"""The table of arms says what the curves say, by hand-computed numbers."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sandbox.store import RunWriter, open_run
from sandbox.store.summary import summarize

STANDARD, SPECTRAL = "standard", "spectral:shift=0.5"


def test_the_numbers_are_those_of_a_hand_calculation(writer: RunWriter) -> None:
    # Seeds 5, 0, 3; the standard arm's last seed never reaches 0.9.
    standard = np.array([[0.5, 0.5, 0.5], [0.9, 0.6, 0.5], [0.95, 0.91, 0.6]])
    spectral = np.array([[0.5, 0.5, 0.5], [0.95, 0.97, 0.9], [0.96, 0.94, 0.62]])
    for arm, values in ((STANDARD, standard), (SPECTRAL, spectral)):
        writer.scalars(arm, "test_accuracy", [0, 20, 40], values)
        writer.scalars(arm, "test_loss", [0, 20, 40], 1 - values)
        writer.scalars(arm, "loss", range(1, 41), np.ones((40, 3)))
    writer.status("done", 40, 6.0, arm_seconds={STANDARD: 2.0, SPECTRAL: 4.0})
    writer.commit()
    first, second = summarize(open_run(writer.path), target=0.9)
    assert (first.arm, first.n, first.reached, first.diverged) == (STANDARD, 3, 2, 0)
    assert (first.median_step, first.first_step, first.last_step) == (30.0, 20, 40)
    assert (first.reference, first.difference) == (STANDARD, None)
    assert first.final_accuracy == pytest.approx((0.95 + 0.91 + 0.6) / 3)
    assert (second.reached, second.median_step, second.first_step, second.last_step) == (3, 20.0, 20, 20)
    assert second.final_step == 40
    assert (first.seconds_per_step, second.seconds_per_step) == (0.05, 0.1)
    difference = second.difference
    assert difference is not None
    assert difference.low is not None
    assert difference.high is not None
    each = np.array([0.01, 0.03, 0.02])  # mean 0.02, sample deviation 0.01, t of 2 degrees 4.302653
    assert difference.mean == pytest.approx(each.mean())
    assert difference.high - difference.mean == pytest.approx(4.302652729911275 * 0.01 / math.sqrt(3))
    assert difference.n == 3


def test_a_diverged_seed_is_counted_and_left_out_of_the_pairs(writer: RunWriter) -> None:
    for arm in (STANDARD, SPECTRAL):
        writer.scalars(arm, "test_accuracy", [0, 20], np.array([[0.5] * 3, [0.9, 0.8, 0.7]]))
        writer.scalars(arm, "test_loss", [0, 20], np.ones((2, 3)))
    writer.scalars(SPECTRAL, "loss", [20, 21], np.array([[1.0, 1.0, 1.0], [1.0, np.nan, 1.0]]))
    writer.status("running", 21, 1.0)
    writer.commit()
    first, second = summarize(open_run(writer.path))
    assert (first.diverged, second.diverged) == (0, 1)
    assert second.final_accuracy == pytest.approx(0.8)
    assert second.difference is not None
    assert (second.difference.n, second.difference.n_left_out, second.difference.mean) == (2, 1, 0.0)
    assert (first.reached, first.median_step, first.first_step) == (0, None, None)
    assert first.seconds_per_step is None


def test_a_run_that_has_not_begun_has_a_table_without_numbers(writer: RunWriter) -> None:
    for line in summarize(open_run(writer.path)):
        assert (line.n, line.reached, line.diverged) == (3, 0, 0)
        assert line.final_accuracy is line.difference is line.final_step is line.seconds_per_step is None


def test_without_a_standard_arm_the_first_one_is_the_reference(tmp_path: Path) -> None:
    plain: dict[str, Any] = {
        "steps": 100,
        "arms": [{"name": "preconditioned"}, {"name": "conditioned-init"}],
        "seeds": [1, 2],
    }
    with RunWriter.create(tmp_path, plain) as writer:
        for arm, accuracy in ((0, 0.5), (1, 0.75)):
            writer.scalars(arm, "test_accuracy", [10], np.full((1, 2), accuracy))
    lines = summarize(open_run(tmp_path))
    assert [line.reference for line in lines] == ["preconditioned"] * 2
    assert lines[1].difference is not None
    assert lines[1].difference.mean == 0.25


def test_arms_are_compared_where_both_were_evaluated(writer: RunWriter) -> None:
    writer.scalars(STANDARD, "test_accuracy", [0, 20], np.array([[0.5] * 3, [0.6] * 3]))
    writer.scalars(SPECTRAL, "test_accuracy", [0, 20, 40], np.array([[0.5] * 3, [0.7] * 3, [1.0] * 3]))
    writer.commit()
    line = summarize(open_run(writer.path))[1]
    assert line.difference is not None
    assert line.difference.mean == pytest.approx(0.1)
    assert line.final_accuracy == 1.0
