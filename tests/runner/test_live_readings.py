"""Live readings: as if the trainer had read, beside it; and what happens where no process can read."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sandbox.diagnostics import Diagnostic
from sandbox.engine.device import one_thread
from sandbox.engine.torch_engine import TorchGroup
from sandbox.foundations.readings import encode
from sandbox.runner import live_readings
from sandbox.runner.live_readings import LiveReadings
from sandbox.runner.recording import Recorder
from sandbox.store import RunWriter, open_run
from tests.runner.small import tiny_experiment

KINDS = ("attention entropy", "theta", "condition numbers", "trajectories")


class Watched:
    """A run of two arms with its recorder and writer, trained by hand."""

    def __init__(self, folder: Path) -> None:
        one_thread()
        experiment = tiny_experiment()
        settings = [experiment.setting(arm.name) for arm in experiment.arms]
        self.folder = folder
        self.writer = RunWriter.open(folder, experiment.to_plain())
        self.groups = [TorchGroup(setting, experiment.seeds) for setting in settings]
        self.recorder = Recorder(experiment, self.groups, self.writer)
        self.recorder.describe("cpu")
        self.recorder.readings(0)

    def live(self, device: str = "cpu") -> LiveReadings:
        return LiveReadings(self.recorder, self.groups, self.writer, device)

    def train(self, n: int) -> int:
        for group in self.groups:
            group.advance(n)
        return self.groups[0].step

    def steps(self) -> list[int]:
        self.writer.commit()
        with open_run(self.folder) as run:
            return run.reading_steps("theta", run.arms[0]).tolist()


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    for name, value in {"EVERY": 0.0, "TRAINER_SHARE": 1e9, "READER_SHARE": 1e9}.items():
        monkeypatch.setattr(live_readings, name, value)
    monkeypatch.setattr(live_readings, "n_cores", lambda: 2)
    made = Watched(tmp_path / "run")
    yield made
    made.writer.close()


def until_read(watched: Watched, live: LiveReadings, step: int) -> None:
    """Turn after turn at one step, until it has been read."""
    end = time.monotonic() + 60
    while step not in watched.steps():
        assert time.monotonic() < end
        live.turn(step, 0.0)
        time.sleep(0.01)


def test_a_process_beside_reads_what_the_trainer_would_have_read(watched: Watched, tmp_path: Path) -> None:
    live = watched.live()
    step = watched.train(3)
    live.turn(step, 0.0)
    assert watched.steps() == [0]
    expected = {a: watched.recorder.look(step)[a] for a in range(2)}
    watched.train(2)  # the weights that are read are those of then
    until_read(watched, live, step)
    live.close()
    with open_run(watched.folder) as run:
        for arm, view in expected.items():
            for kind in KINDS:
                for column, values in encode(Diagnostic.variants[kind]().read(view))[0].items():
                    at, found = run.reading_column(kind, column, run.arms[arm])
                    np.testing.assert_array_equal(found[list(at).index(step)], values)


def test_a_reading_that_a_kept_snapshot_has_overtaken_is_dropped(watched: Watched) -> None:
    live = watched.live()
    early = watched.train(1)
    live.turn(early, 0.0)
    late = watched.train(1)
    watched.recorder.readings(late)
    live.made(late)
    last = watched.train(1)
    until_read(watched, live, last)
    live.close()
    assert watched.steps() == [0, late, last]


def test_training_is_about_to_rest_so_that_step_is_read_at_once(watched: Watched) -> None:
    live = watched.live()
    step = watched.train(1)
    live.turn(step, 0.0, now=True)
    live.turn(step, 0.0, now=True)
    assert watched.steps() == [0, step]


def test_the_process_is_gone_when_it_is_closed_and_back_when_asked(watched: Watched) -> None:
    live = watched.live()
    for _ in range(2):
        step = watched.train(1)
        until_read(watched, live, step)
        assert live._reader is not None
        pid = live._reader._process.pid
        live.close()
        with pytest.raises(ProcessLookupError):
            os.kill(pid or 0, 0)


def test_a_process_that_keeps_dying_leaves_reading_to_the_trainer(watched: Watched) -> None:
    live = watched.live()
    for _ in range(live_readings.MOST_DEATHS):
        live.turn(watched.train(1), 0.0)
        assert live._reader is not None
        live._reader._process.kill()
        live._reader._process.join()
        live.turn(watched.train(1), 1e9)
    step = watched.train(1)
    live.turn(step, 0.0)
    assert live._reader is None and step in watched.steps()


def test_a_process_that_dies_between_two_readings_is_no_failure_of_the_run(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = watched.live()
    step = watched.train(1)
    live.turn(step, 0.0)
    monkeypatch.setattr(live_readings, "EVERY", 1e6)  # nothing more is asked once this is read
    until_read(watched, live, step)
    monkeypatch.setattr(live_readings, "EVERY", 0.0)
    assert live._reader is not None and live._reader.idle
    live._reader._process.kill()
    live._reader._process.join()
    step = watched.train(1)
    until_read(watched, live, step)
    live.close()
    assert step in watched.steps()


@pytest.mark.parametrize(("device", "cores"), [("cuda", 2), ("cpu", 1)])
def test_on_a_gpu_and_on_one_core_the_trainer_reads(
    watched: Watched, monkeypatch: pytest.MonkeyPatch, device: str, cores: int
) -> None:
    monkeypatch.setattr(live_readings, "n_cores", lambda: cores)
    live = watched.live(device=device)
    step = watched.train(1)
    live.turn(step, 0.0)
    assert live._reader is None and watched.steps() == [0, step]


def test_readings_keep_to_their_shares(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_readings, "EVERY", 1e6)
    live = watched.live()
    live.made(0)
    live.turn(watched.train(1), 0.0)
    assert live._reader is None and watched.steps() == [0]
