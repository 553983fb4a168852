"""Steering an execution through its control file: what a button does, and how soon it is committed."""

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sandbox.runner.control import RunControl
from sandbox.runner.execution import Execution
from sandbox.store import open_run
from tests.runner.small import tiny_experiment
from tests.runner.waiting import eventually


class Live:
    """A long run in a thread, steered through its control file."""

    def __init__(self, folder: Path) -> None:
        self.beats: list[tuple[str, int]] = []
        self.execution = Execution(
            tiny_experiment(steps=100_000), folder, live=True, on_beat=lambda s, n: self.beats.append((s, n))
        )
        self.control = RunControl(folder)
        self.thread = threading.Thread(target=self.execution.run)
        self.thread.start()
        eventually(lambda: self.execution.step > 3)

    def __enter__(self) -> "Live":
        return self

    def __exit__(self, *_: object) -> None:
        self.control.stop()
        self.thread.join(timeout=20)
        assert not self.thread.is_alive()


def test_pause_step_resume_and_stop_are_committed_and_take_effect(tmp_path: Path) -> None:
    with Live(tmp_path / "run") as live:
        live.control.pause()
        eventually(lambda: open_run(tmp_path / "run").status["state"] == "paused")
        held = live.execution.step
        status = open_run(tmp_path / "run").status
        assert status["step"] == held
        assert int(open_run(tmp_path / "run").reading_steps("theta", "standard")[-1]) == held
        for n in (1, 3):
            live.control.step(n)
            held += n
            eventually(lambda expected=held: open_run(tmp_path / "run").status["step"] == expected)
            assert open_run(tmp_path / "run").status["state"] == "paused"
            assert int(open_run(tmp_path / "run").reading_steps("theta", "standard")[-1]) == held
        time.sleep(0.1)
        assert live.execution.step == held
        live.control.resume()
        eventually(lambda expected=held: live.execution.step > expected + 5)
        eventually(lambda: open_run(tmp_path / "run").status["state"] == "running")
    status = open_run(tmp_path / "run").status
    assert status["state"] == "stopped" and status["step"] == live.execution.step


def test_a_pause_that_comes_while_a_turn_is_made_ready_is_obeyed_after_it(tmp_path: Path) -> None:
    execution = Execution(tiny_experiment(), tmp_path / "run")
    change = execution._change

    def pressed_just_then() -> None:
        change()
        if execution.step == 0:
            with RunControl(tmp_path / "run") as control:
                control.pause()

    execution._change = pressed_just_then  # type: ignore[method-assign]
    thread = threading.Thread(target=execution.run)
    thread.start()
    try:
        eventually(lambda: open_run(tmp_path / "run").status["state"] in ("paused", "done"))
        assert open_run(tmp_path / "run").status["state"] == "paused"
        held = execution.step
        time.sleep(0.1)
        assert execution.step == held < 24
    finally:
        with RunControl(tmp_path / "run") as control:
            control.stop()
        thread.join(timeout=20)


@pytest.mark.slow
def test_a_running_run_is_committed_within_a_sixth_of_a_second_and_a_turn(tmp_path: Path) -> None:
    commits: list[float] = []
    turns: list[float] = []
    execution = Execution(
        tiny_experiment(steps=60),
        tmp_path / "run",
        live=True,
        on_beat=lambda *_: commits.append(time.monotonic()),
    )
    turn = execution._turn

    def timed() -> None:
        began = time.monotonic()
        turn()
        turns.append(time.monotonic() - began)

    execution._turn = timed  # type: ignore[method-assign]
    execution.run()
    gaps = np.diff(commits[2:])
    assert len(gaps) > 3 and gaps.max() < 1 / 6 + 2 * max(turns)


def test_a_stop_that_came_before_the_start_is_obeyed(tmp_path: Path) -> None:
    with RunControl(_made(tmp_path / "run"), create=True) as control:
        control.stop()
    assert Execution(tiny_experiment(), tmp_path / "run").run()[0] == "stopped"
    assert open_run(tmp_path / "run").status["step"] == 0


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_a_pause_shows_between_two_blocks_of_an_evaluation(tmp_path: Path) -> None:
    execution = Execution(tiny_experiment(), tmp_path / "run", engine="torch")
    shown: list[str] = []
    prepare = execution._prepare

    def watched(found: Any) -> None:
        prepare(found)
        logits = execution._groups[0]._model.logits

        def slow(*arguments: Any) -> Any:
            if execution.step > 0 and not execution._interrupted:
                shown.append(open_run(tmp_path / "run").status["state"])
                with RunControl(tmp_path / "run") as control:
                    control.pause()
                if len(shown) == 3:
                    execution.interrupt()
            return logits(*arguments)

        execution._groups[0]._model.logits = slow  # type: ignore[method-assign]

    execution._prepare = watched  # type: ignore[method-assign]
    execution.run()
    assert shown == ["running", "paused", "paused"]
