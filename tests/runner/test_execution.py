"""An execution: what it records, how it obeys, and that neither watching nor interruptions change a bit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sandbox
from sandbox.experiment.schedule import evaluation_steps, snapshot_budget, snapshot_steps
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.errors import DeviceUnavailable, RunUnavailable
from sandbox.foundations.readings import Trajectory
from sandbox.runner.execution import Execution
from sandbox.runner.recording import Snapshot
from sandbox.store import Run, open_run
from tests.runner.small import CHEAP, CURVES, assert_same_numbers, tiny_experiment


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The tiny experiment trained in one go, unwatched."""
    return sandbox.train(tiny_experiment(), out=tmp_path_factory.mktemp("reference") / "run")


def test_a_finished_run_has_every_curve_at_every_step_it_promises(reference: Run) -> None:
    assert reference.status["state"] == "done" and reference.status["step"] == 24
    for arm in reference.arms:
        steps, losses = reference.group_curve("loss", arm)
        assert list(steps) == list(range(1, 25)) and np.isfinite(losses).all() and losses.shape == (24, 2)
        for name in CURVES[1:]:
            assert list(reference.group_curve(name, arm)[0]) == list(evaluation_steps(24, 7))


def test_the_reason_of_an_end_has_its_thousands(tmp_path: Path) -> None:
    long = tiny_experiment(steps=1000, evaluate_every=1000, seeds=[3], arms=["standard"])
    run = sandbox.train(long, out=tmp_path / "run")
    assert run.status["reason"] == "the step limit of 1,000 is reached"


def test_weights_and_readings_stand_at_every_scheduled_snapshot(reference: Run) -> None:
    size = sum(int(np.prod(shape)) for shape in reference.layout("standard")["shapes"])
    scheduled = list(snapshot_steps(24, snapshot_budget(24, 2 * 2 * size * 4)))
    for arm in reference.arms:
        assert list(reference.weight_steps(arm)) == scheduled
        assert reference.weights(0, arm).shape == (2, size)
        for kind in CHEAP & set(reference.reading_kinds(arm)):
            if not isinstance(reference.reading(kind, 0, arm), NotApplicable):
                assert list(reference.reading_steps(kind, arm)) == scheduled


def test_what_holds_for_the_whole_run_is_recorded_once(reference: Run) -> None:
    assert {"chance", "majority class"} <= set(reference.lines["accuracy"])
    assert {"uniform answer", "class frequencies"} <= set(reference.lines["loss"])
    assert len(reference.task["probe"][0]["tokens"]) == 5 and reference.task["class_labels"]
    assert set(reference.status["arm_seconds"]) == set(reference.arms)
    assert all(seconds > 0 for seconds in reference.status["arm_seconds"].values())


def test_arms_of_one_seed_start_from_the_same_weights(reference: Run) -> None:
    np.testing.assert_array_equal(
        reference.weights(0, "standard"), reference.weights(0, "spectral:shift=0.5")
    )


@pytest.mark.slow
def test_live_readings_change_no_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"EVERY": 0.0, "TRAINER_SHARE": 1e9, "READER_SHARE": 1e9}.items():
        monkeypatch.setattr(f"sandbox.runner.live_readings.{name}", value)
    monkeypatch.setattr("sandbox.runner.timetable.snapshot_budget", lambda *_: 4)
    # The torch engine is slow enough for the reader to start before the run ends.
    unwatched = sandbox.train(tiny_experiment(steps=64), out=tmp_path / "unwatched", engine="torch")
    Execution(tiny_experiment(steps=64), tmp_path / "watched", live=True, engine="torch").run()
    watched = open_run(tmp_path / "watched")
    assert len(watched.reading_steps("theta", "standard")) > len(unwatched.reading_steps("theta", "standard"))
    assert_same_numbers(unwatched, watched, live=True)


@pytest.mark.parametrize(
    "stops",
    [pytest.param([1], marks=pytest.mark.slow), pytest.param([13], marks=pytest.mark.slow), [7, 8, 20]],
)
def test_a_run_stopped_and_resumed_has_the_bits_of_one_that_was_not(
    reference: Run, tmp_path: Path, stops: list[int]
) -> None:
    for at in stops:
        execution = Execution(tiny_experiment(), tmp_path / "run", on_beat=None)
        _interrupt_at(execution, at)
        assert execution.run()[0] == "stopped"
        assert open_run(tmp_path / "run").status["state"] == "stopped"
    resumed = sandbox.train(tiny_experiment(), out=tmp_path / "run")
    assert resumed.status["state"] == "done"
    assert_same_numbers(reference, resumed)


@pytest.mark.slow
def test_the_plane_of_the_trajectories_survives_a_resume(reference: Run, tmp_path: Path) -> None:
    execution = Execution(tiny_experiment(), tmp_path / "run")
    _interrupt_at(execution, 15)
    execution.run()
    resumed = sandbox.train(tiny_experiment(), out=tmp_path / "run")
    ours, theirs = (run.reading("trajectories", 24, "standard") for run in (reference, resumed))
    assert isinstance(ours, Trajectory) and isinstance(theirs, Trajectory)
    np.testing.assert_array_equal(ours.points, theirs.points)


@pytest.mark.slow
def test_a_crash_without_a_checkpoint_starts_again_from_step_0(
    reference: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    execution = Execution(tiny_experiment(), tmp_path / "run")
    advance = execution._turn

    def fail_at_10() -> None:
        if execution.step >= 10:
            raise RuntimeError("the roof came down")
        advance()

    monkeypatch.setattr(execution, "_turn", fail_at_10)
    monkeypatch.setattr("sandbox.runner.execution.CHECKPOINT_EVERY", 1e9)
    with pytest.raises(RuntimeError):
        execution.run()
    failed = open_run(tmp_path / "run").status
    assert failed["state"] == "failed" and "roof" in failed["reason"]
    assert_same_numbers(reference, sandbox.train(tiny_experiment(), out=tmp_path / "run"))


def test_a_finished_run_is_left_as_it_is(tmp_path: Path) -> None:
    sandbox.train(tiny_experiment(steps=5), out=tmp_path / "run")
    before = open_run(tmp_path / "run").curve("loss", "standard", 3)[1]
    again = sandbox.train(tiny_experiment(steps=5), out=tmp_path / "run")
    np.testing.assert_array_equal(before, again.curve("loss", "standard", 3)[1])


def test_another_experiment_in_the_folder_is_refused(tmp_path: Path) -> None:
    sandbox.train(tiny_experiment(steps=2), out=tmp_path / "run")
    with pytest.raises(RunUnavailable, match="different experiment"):
        sandbox.train(tiny_experiment(steps=3), out=tmp_path / "run")


def test_a_folder_that_is_being_written_is_refused(tmp_path: Path) -> None:
    first = Execution(tiny_experiment(steps=2), tmp_path / "run")
    with pytest.raises(RunUnavailable, match="another process"):
        Execution(tiny_experiment(steps=2), tmp_path / "run")
    first.run()


def test_a_device_that_is_not_there_fails_with_its_sentence(tmp_path: Path) -> None:
    with pytest.raises(DeviceUnavailable, match="choose"):
        Execution(tiny_experiment(steps=2), tmp_path / "run", device="abacus").run()
    assert "abacus" in open_run(tmp_path / "run").status["reason"]


def test_the_callback_gets_the_readings_of_every_scheduled_snapshot(tmp_path: Path) -> None:
    seen: list[Snapshot] = []
    run = sandbox.train(tiny_experiment(steps=9), out=tmp_path / "run", on_snapshot=seen.append)
    assert [snapshot.step for snapshot in seen] == list(run.weight_steps("standard"))
    assert set(seen[0].readings) == set(run.arms) and "theta" in seen[0].readings["standard"]


@pytest.mark.slow
def test_a_diverging_run_is_one_event_per_seed_and_leaves_the_other_arm_alone(
    reference: Run, tmp_path: Path
) -> None:
    execution = Execution(tiny_experiment(), tmp_path / "run")
    prepare = execution._prepare

    def poison(found: Any) -> None:
        prepare(found)
        group = execution._groups[1]
        state = group.state()
        state["theta"][0] = np.nan
        group.load(state)

    execution._prepare = poison  # type: ignore[method-assign]
    execution.run()
    run = open_run(tmp_path / "run")
    broken = [(e.step, e.arm, e.seed) for e in run.events() if e.kind == "nan"]
    assert broken == [(1, "spectral:shift=0.5", 3)]
    assert np.isnan(run.curve("loss", "spectral:shift=0.5", 3)[1]).all()
    for arm, seed in (("standard", 3), ("standard", 11), ("spectral:shift=0.5", 11)):
        np.testing.assert_array_equal(run.curve("loss", arm, seed)[1], reference.curve("loss", arm, seed)[1])


@pytest.mark.slow
def test_the_first_evaluation_at_the_target_is_an_event(tmp_path: Path) -> None:
    easy = {"kind": "sparse modular addition", "length": 2, "n_terms": 1, "n_train": 64, "n_test": 32,
            "split": "overlapping"}  # fmt: skip
    run = sandbox.train(
        tiny_experiment(
            task=easy, steps=32, optimizer={"kind": "adamw", "learning_rate": 0.03}, evaluate_every=4
        ),
        out=tmp_path / "run",
    )
    for arm in run.arms:
        for seed in run.seeds:
            steps, accuracy = run.curve("test_accuracy", arm, seed)
            first = [int(step) for step in steps[accuracy >= 0.98]][:1]
            assert first == [
                e.step for e in run.events() if (e.kind, e.arm, e.seed) == ("threshold", arm, seed)
            ]
            assert first


def _interrupt_at(execution: Execution, step: int) -> None:
    """Ask for a stop at the first turn that reaches `step`, by steps of one."""
    turn = execution._turn

    def counted() -> None:
        execution._seconds_per_step = 1.0  # one step a turn
        turn()
        if execution.step >= step:
            execution.interrupt()

    execution._turn = counted  # type: ignore[method-assign]


def test_every_arm_is_first_in_its_turn_so_that_none_alone_finds_the_caches_cold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    execution = Execution(tiny_experiment(), tmp_path / "run")
    monkeypatch.setattr(execution, "_steps_at_once", lambda: 1)
    prepare, trained = execution._prepare, []

    def watched(found: Any) -> None:
        prepare(found)
        for arm, group in enumerate(execution._groups):
            monkeypatch.setattr(
                group, "advance", lambda n, a=arm, go=group.advance: trained.append(a) or go(n)
            )

    monkeypatch.setattr(execution, "_prepare", watched)
    execution.run()
    assert trained[::2] == [0, 1] * 12 and trained[1::2] == [1, 0] * 12
