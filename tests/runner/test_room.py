"""A full disk pauses a run that says so, and with room it goes on to the numbers of one that never waited."""

import threading
import time
from pathlib import Path

import numpy as np
import pytest

import sandbox
from sandbox.runner import queue, room
from sandbox.runner.control import RunControl
from sandbox.runner.execution import Execution
from sandbox.runner.room import BALLAST, DISK_FULL, Ballast, keep_within_budget
from sandbox.store import RunWriter, StorageFull, open_run
from tests.runner.small import assert_same_numbers, tiny_experiment
from tests.runner.test_supervisor import supervising
from tests.runner.waiting import eventually, known


@pytest.mark.slow
def test_a_disk_that_fills_pauses_the_run_and_it_goes_on_with_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "RETRY", 0.01)
    told: list[str] = []
    fails = {"commits": 0, "left": 6}
    commit = RunWriter.commit

    def full(self: RunWriter, durable: bool = False) -> None:
        fails["commits"] += 1
        if fails["commits"] > 3 and fails["left"]:
            fails["left"] -= 1
            raise StorageFull("no room")
        commit(self, durable)

    monkeypatch.setattr(RunWriter, "commit", full)
    execution = Execution(
        tiny_experiment(), tmp_path / "full", on_beat=lambda state, step: told.append(state)
    )
    assert execution.run()[0] == "done"
    monkeypatch.setattr(RunWriter, "commit", commit)
    assert fails["left"] == 0 and told.count(DISK_FULL) >= 6 and told[-1] != DISK_FULL
    with open_run(tmp_path / "full") as run:
        assert_same_numbers(sandbox.train(tiny_experiment(), out=tmp_path / "whole"), run)


@pytest.mark.slow
def test_below_the_reserve_it_waits_while_it_can_still_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = [1e9]
    monkeypatch.setattr(room, "free_bytes", lambda folder: free[0])
    monkeypatch.setattr(room, "RETRY", 0.01)
    seen: list[dict[str, object]] = []

    def beat(state: str, step: int) -> None:
        if state == DISK_FULL:
            seen.append(open_run(tmp_path / "run").status)
            free[0] = 1e9
        elif step > 5 and not seen:
            free[0] = room.reserve() - 1

    assert Execution(tiny_experiment(), tmp_path / "run", on_beat=beat).run()[0] == "done"
    assert seen[0]["state"] == "paused" and "disk is full" in str(seen[0]["reason"])
    assert open_run(tmp_path / "run").status["state"] == "done"


def test_a_run_that_waits_for_room_can_be_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "RETRY", 0.01)
    waiting = threading.Event()
    execution = Execution(
        tiny_experiment(steps=100_000),
        tmp_path / "run",
        on_beat=lambda state, step: waiting.set() if state == DISK_FULL else None,
    )
    monkeypatch.setattr(room, "free_bytes", lambda folder: 0.0)
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(execution.run()[0]))
    thread.start()
    assert waiting.wait(30)
    with RunControl(tmp_path / "run") as control:
        control.stop()
    thread.join(30)
    assert found == ["stopped"]


def test_the_queue_says_why_and_stops_saying_so(runs_folder: Path) -> None:
    run_id = queue.enqueue({"steps": 400, "full_at": 20, "full_for": 60}, "ann")
    with supervising(runs_folder):
        eventually(lambda: known(run_id).state == "paused")
        assert "disk is full" in known(run_id).reason
        eventually(lambda: known(run_id).state == "running" and known(run_id).step > 25)
        assert known(run_id).reason == ""


def test_a_full_queue_is_written_with_the_ballasts_room(
    runs_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs_folder.mkdir()
    ballast = Ballast(runs_folder)
    ballast.keep()
    assert (runs_folder / "ballast").stat().st_blocks * 512 >= BALLAST
    assert ballast.drop() and not ballast.drop()
    monkeypatch.setattr(room, "free_bytes", lambda folder: 2 * room.reserve())
    ballast.keep()
    assert not (runs_folder / "ballast").exists()


def test_all_runs_are_kept_within_their_budget_oldest_first_and_pinned_last(
    runs_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, name in enumerate(("oldest", "newer", "newest")):
        with RunWriter.create(runs_folder / name, tiny_experiment().to_plain()) as writer:
            for step in range(40):
                writer.scalars(0, "loss", [step], np.ones((1, 2)))
                writer.weights(step, 0, np.ones((2, 5000), np.float32))
            writer.status("done", 39, 1.0)
        time.sleep(0.01 * number)
    assert keep_within_budget(runs_folder) == []
    total = sum(path.stat().st_size for path in runs_folder.rglob("*") if path.is_file())
    monkeypatch.setenv("SANDBOX_RUNS_GB", str(0.9 * total / 1e9))
    assert keep_within_budget(runs_folder) == ["oldest"]
    with open_run(runs_folder / "oldest") as run:
        assert len(run.weight_steps("standard")) <= 14 and len(run.group_curve("loss", "standard")[0]) == 40
    assert keep_within_budget(runs_folder) == []
