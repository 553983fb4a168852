"""Watching changes no bit of a run that compiled kernels train."""

from pathlib import Path

import pytest

import sandbox
from sandbox.runner.execution import Execution
from sandbox.store import open_run
from tests.runner.small import assert_same_numbers, tiny_experiment

pytestmark = pytest.mark.slow

STEPS = 15_000
"""Some seconds: the process that reads for viewers has started long before."""


def test_live_readings_change_no_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"EVERY": 0.0, "TRAINER_SHARE": 1e9, "READER_SHARE": 1e9}.items():
        monkeypatch.setattr(f"sandbox.runner.live_readings.{name}", value)
    monkeypatch.setattr("sandbox.runner.timetable.snapshot_budget", lambda *_: 4)
    experiment = tiny_experiment(steps=STEPS, evaluate_every=1000)
    unwatched = sandbox.train(experiment, out=tmp_path / "unwatched", engine="native")
    Execution(experiment, tmp_path / "watched", live=True, engine="native").run()
    watched = open_run(tmp_path / "watched")
    assert len(watched.reading_steps("theta", "standard")) > len(unwatched.reading_steps("theta", "standard"))
    assert_same_numbers(unwatched, watched, live=True)
