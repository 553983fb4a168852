"""Costly diagnostics beside the training: within a share, at kept snapshots, and without a trace."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from sandbox.diagnostics import Diagnostic, SnapshotView
from sandbox.diagnostics.schedule import Schedule
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import Answer, encode
from sandbox.runner.costly_readings import WAITING, CostlyReadings, _units
from sandbox.runner.execution import Execution
from sandbox.runner.side_reading import Outcome, SideReading
from sandbox.store import RunWriter, open_run
from tests.diagnostics.views import random_view
from tests.runner.small import assert_same_numbers, tiny_experiment
from tests.runner.waiting import eventually

SINGULAR = {"singular values": Diagnostic.variants["singular values"]()}


@dataclass(frozen=True, kw_only=True)
class Busy(Diagnostic):
    """Keeps the processor busy for a while per seed, then says which process it was."""

    cost: ClassVar[str] = "costly"
    seconds: float

    def read(self, view: SnapshotView) -> Answer:
        """Not applicable, with its process id as the reason."""
        until = time.process_time() + self.seconds
        while time.process_time() < until:
            pass
        return NotApplicable(str(os.getpid()))


@dataclass(frozen=True, kw_only=True)
class Warming(Diagnostic):
    """Dear the first time in its process alone."""

    warm: ClassVar[list[bool]] = []

    def read(self, view: SnapshotView) -> Answer:
        """Not applicable, after a while."""
        answer = Busy(seconds=0.001 if self.warm else 0.4).read(view)
        self.warm.append(True)
        return answer


def outcome_of(side: SideReading, patience: float = 20.0) -> Outcome:
    """Wait for what comes of it."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        side.wait(0.05)
        found = side.outcome()
        if found is not None:
            return found
    raise AssertionError("the reading never ended")


def test_a_reading_beside_the_trainer_is_the_same_reading() -> None:
    view = random_view()
    outcome = outcome_of(SideReading(SINGULAR, lambda: [view, view], 6))
    here = encode(SINGULAR["singular values"].read(view))
    for answers in outcome.answers:
        there = encode(answers["singular values"])
        assert there[1] == here[1]
        for name, values in here[0].items():
            np.testing.assert_array_equal(there[0][name], values)
    assert len(outcome.answers) == 2 and 0 < outcome.cost == outcome.seconds < 5


def test_it_runs_in_another_process_and_tells_how_far_it_is() -> None:
    side = SideReading({"busy": Busy(seconds=0.05)}, lambda: [random_view()], 3)
    assert side.progress == (0, 3)
    (answers,) = outcome_of(side).answers
    assert isinstance(answers["busy"], NotApplicable) and answers["busy"].reason != str(os.getpid())
    assert side.progress == (3, 3)


def test_what_costs_too_much_is_left_after_its_second_piece() -> None:
    outcome = outcome_of(SideReading({"busy": Busy(seconds=0.2)}, lambda: [random_view()] * 4, 12, most=0.9))
    assert outcome.answers == [] and 0.35 < outcome.seconds < 0.9 and 1.8 < outcome.cost < 4


def test_what_is_worked_out_once_does_not_count_for_every_piece() -> None:
    outcome = outcome_of(SideReading({"warming": Warming()}, lambda: [random_view()] * 4, 12, most=2.0))
    assert len(outcome.answers) == 4 and outcome.seconds < 2.0


def test_the_cheapest_are_read_first() -> None:
    usual = [min(Diagnostic.variants[kind].usual_ms for kind in kinds) for kinds in _units().values()]
    assert usual == sorted(usual) and usual[0] > 0


def test_a_single_piece_cannot_overdraw_the_limit() -> None:
    began = time.monotonic()
    outcome = outcome_of(SideReading({"busy": Busy(seconds=60)}, lambda: [random_view()], 3, most=0.1))
    assert outcome.answers == [] and outcome.seconds == 0.1 and outcome.cost == np.inf
    assert time.monotonic() - began < 20


def test_cancelling_ends_it_at_once() -> None:
    side = SideReading({"busy": Busy(seconds=60)}, lambda: [random_view()], 3)
    process = side._process
    began = time.monotonic()
    side.cancel()
    assert not process.is_alive() and time.monotonic() - began < 5


def test_a_process_that_dies_leaves_no_answer() -> None:
    side = SideReading({"busy": Busy(seconds=60)}, lambda: [random_view()], 3)
    side._process.kill()
    outcome = outcome_of(side)
    assert outcome.answers == [] and outcome.cost == outcome.seconds


def test_the_files_and_the_lock_of_the_run_stay_with_the_trainer(tmp_path: Path) -> None:
    writer = RunWriter.open(tmp_path / "run", tiny_experiment().to_plain())
    side = SideReading({"busy": Busy(seconds=60)}, lambda: [random_view()], 3)
    eventually(lambda: len(os.listdir(f"/proc/{side._process.pid}/fd")) <= 4)
    writer.close()
    RunWriter.open(tmp_path / "run", tiny_experiment().to_plain()).close()  # the lock is free
    side.cancel()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The tiny experiment with costly diagnostics read whenever possible, and with none."""
    home = tmp_path_factory.mktemp("costly")
    experiment = tiny_experiment(steps=6)
    keen = Execution(experiment, home / "keen")
    keen._costly = CostlyReadings(keen._writer, experiment.steps, share=1.0)
    read_whenever_possible(keen._costly._schedule)
    turn = keen._turn

    def turn_and_wait() -> None:
        turn()
        while not keen._costly.idle:  # so that every kind is read at a known step
            keen._costly.collect(keen.step)
            time.sleep(0.005)

    keen._turn = turn_and_wait  # type: ignore[method-assign]
    keen.run()
    bare = Execution(experiment, home / "bare")
    bare._costly = CostlyReadings(bare._writer, experiment.steps, share=0.0)
    bare.run()
    return home / "keen", home / "bare"


def read_whenever_possible(schedule: Schedule) -> None:
    """Let the schedule find every kind due in turn, whatever it costs."""
    setattr(schedule, "due", lambda left: schedule._turn[0] if schedule._turn else None)  # noqa: B010
    setattr(schedule, "most", lambda left: np.inf)  # noqa: B010


@pytest.mark.slow
def test_costly_readings_change_no_bit(runs: tuple[Path, Path]) -> None:
    keen, bare = (open_run(folder) for folder in runs)
    costly = {"sharpness", "attention jacobian", "jacobian certificates", "layer norms"}
    assert costly <= set(keen.reading_kinds("standard"))
    assert costly.isdisjoint(bare.reading_kinds("standard"))
    assert_same_numbers(bare, keen)


def test_they_are_read_at_kept_snapshots_of_every_arm(runs: tuple[Path, Path]) -> None:
    run = open_run(runs[0])
    for kind in ("sharpness", "attention jacobian"):
        for arm in run.arms:
            steps = run.reading_steps(kind, arm)
            assert len(steps) and set(steps) <= set(run.weight_steps(arm))
            assert not isinstance(run.reading(kind, int(steps[0]), arm), NotApplicable)


def test_until_when_each_waits_is_part_of_the_run(runs: tuple[Path, Path]) -> None:
    waits = open_run(runs[0]).meta(WAITING)
    assert all(set(wait) == {"kind", "step", "seconds", "cost"} for wait in waits)
    jacobian, certificates = (
        next(w for w in waits if w["kind"] == kind)
        for kind in ("attention jacobian", "jacobian certificates")
    )
    assert jacobian | {"kind": ""} == certificates | {"kind": ""} and jacobian["cost"] > 0
    assert open_run(runs[1]).meta(WAITING) == []


def test_a_resumed_run_remembers_costs_and_purse(tmp_path: Path) -> None:
    writer = RunWriter.open(tmp_path / "run", tiny_experiment().to_plain())
    first = CostlyReadings(writer, 100)
    first.trained(50.0, 50)
    first._schedule.spent("sharpness", 1.5)
    second = CostlyReadings(writer, 100)
    second.load(first.state())
    assert second.waiting(50) == first.waiting(50)
    assert next(w for w in second.waiting(50) if w["kind"] == "sharpness")["cost"] == 1.5
    writer.close()


def test_what_the_run_cannot_pay_for_waits_for_nothing_and_lets_others_pass() -> None:
    schedule = Schedule(["dear", "cheap"], share=0.1)
    schedule.estimate("dear", cost=9.0, seconds=0.5)
    schedule.spent("cheap", 0.1)
    schedule.trained(7.5)
    assert schedule.due(left=20.0) == "cheap" and schedule.due(left=1000.0) is None
    dear, cheap = schedule.waiting(0, 0.1, left=20.0)
    assert (dear.seconds, dear.step) == (np.inf, -1) and cheap.seconds == 0.0
    assert schedule.most(left=20.0) == pytest.approx((schedule.purse + 2.0) / 2)
