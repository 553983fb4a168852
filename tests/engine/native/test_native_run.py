"""A whole run on the native engine, through the same door as any other."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sandbox
from sandbox.runner.execution import Execution
from sandbox.store import open_run
from tests.runner.small import CURVES, assert_same_numbers, tiny_experiment

pytestmark = pytest.mark.slow

VISUAL: dict[str, Any] = {"model": {"kind": "visual model"}, "arms": ["standard"], "batch_size": 32}


def test_a_run_stopped_and_resumed_has_the_bits_of_one_that_was_not(tmp_path: Path):
    experiment = tiny_experiment(**VISUAL)
    whole = sandbox.train(experiment, out=tmp_path / "whole")
    execution = Execution(experiment, tmp_path / "pieces")
    turn = execution._turn

    def one_turn() -> None:
        turn()
        execution.interrupt()

    execution._turn = one_turn  # type: ignore[method-assign]
    assert execution.run()[0] == "stopped"
    assert_same_numbers(whole, sandbox.train(experiment, out=tmp_path / "pieces"))


def test_both_engines_draw_the_same_curves(tmp_path: Path):
    experiment = tiny_experiment(**VISUAL)
    runs = [sandbox.train(experiment, out=tmp_path / name, engine=name) for name in ("torch", "native")]
    for name in CURVES:
        (steps, expected), (other_steps, values) = (run.group_curve(name, "standard") for run in runs)
        np.testing.assert_array_equal(steps, other_steps)
        np.testing.assert_allclose(values, expected, rtol=0, atol=0.05 if "accuracy" in name else 1e-4)
    kinds = {kind for run in runs for kind in run.reading_kinds("standard")}
    assert "clustering" in kinds
    assert [open_run(tmp_path / name).status["state"] for name in ("torch", "native")] == ["done", "done"]
