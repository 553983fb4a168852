"""Random kills of worker, supervisor and app lose no snapshot, and the run ends with the same bits."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

import sandbox
from sandbox.experiment.experiment import load
from sandbox.foundations.errors import SandboxError
from sandbox.runner import queue
from sandbox.runner.control import RunControl, supervisor_runs
from sandbox.runner.execution import Execution
from sandbox.store import open_run
from tests.faults.conftest import Note
from tests.live.serving import ROOT, free_port
from tests.runner.small import assert_same_numbers, tiny

KILLS = int(os.environ.get("SANDBOX_FAULT_KILLS", "100"))
STEPS_EACH = 60
"""Steps of training from one kill to the next, on average."""

WORKER, SUPERVISOR, APP = "worker", "supervisor", "app"
pytestmark = [pytest.mark.faults, pytest.mark.timeout(3600)]


class Served:
    """`serve`, started again whenever it ends, as whoever keeps a server would."""

    def __init__(self, runs: Path) -> None:
        self._runs, self.port, self.starts = runs, free_port(), 0
        self._log = (runs.parent / "served.log").open("w")
        self.process: subprocess.Popen[bytes] | None = None
        self.keep()

    def keep(self) -> None:
        if self.process is None or self.process.poll() is not None:
            self.starts += 1
            self.process = subprocess.Popen(
                [sys.executable, "-m", "sandbox", "serve", "--port", str(self.port)],
                cwd=ROOT,
                env={**os.environ, "SANDBOX_RUNS": str(self._runs)},
                stdout=subprocess.DEVNULL,
                stderr=self._log,
            )

    def child(self, words: str) -> psutil.Process | None:
        """The child whose command holds `words`."""
        assert self.process is not None
        try:
            for child in psutil.Process(self.process.pid).children():
                if words in " ".join(child.cmdline()):
                    return child
        except psutil.Error:
            pass
        return None

    def end(self) -> None:
        assert self.process is not None
        self.process.terminate()
        self.process.wait(timeout=30)
        self._log.close()


@contextmanager
def serving(runs: Path) -> Iterator[Served]:
    served = Served(runs)
    try:
        yield served
    finally:
        served.end()


def wait(truth: Callable[[], object], served: Served, seconds: float = 180.0) -> None:
    deadline = time.monotonic() + seconds
    while not truth():
        served.keep()
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)


def kept(folder: Path) -> set[tuple[str, int]]:
    """Every stored snapshot of the run: arm and step."""
    try:
        with open_run(folder) as run:
            return {(arm, int(step)) for arm in run.arms for step in run.weight_steps(arm)}
    except SandboxError:
        return set()


def victim(kind: str, run_id: str, served: Served) -> int | None:
    if kind == WORKER:
        found = queue.state(run_id)
        known = found.pid if found and found.state in ("running", "paused") else None
        return known if known is not None and _lives(known) else None  # the queue may not have heard yet
    child = served.child("sandbox.runner.supervisor" if kind == SUPERVISOR else "streamlit")
    return child.pid if child else None


def test_random_kills_lose_nothing(runs_folder: Path, note: Note) -> None:
    chance = random.Random(20)
    steps = STEPS_EACH * (KILLS + 2)
    # One arm is compiled where kernels are built, the other is torch's, which also makes the run last.
    plain = load(tiny(steps=steps, evaluate_every=200, arms=["standard", "linear"])).to_plain()
    points = sorted(chance.sample(range(20, STEPS_EACH * (KILLS + 1)), KILLS))
    kinds = [(WORKER, SUPERVISOR, APP)[n % 3] for n in range(KILLS)]
    chance.shuffle(kinds)
    runs_folder.mkdir()
    began, done, lost, back = time.monotonic(), dict.fromkeys((WORKER, SUPERVISOR, APP), 0), 0, []
    with serving(runs_folder) as served:
        wait(lambda: supervisor_runs(runs_folder), served)
        run_id = queue.enqueue(plain, "ann", keeps_on=True)
        folder = runs_folder / run_id
        before: set[tuple[str, int]] = set()
        for at, kind in zip(points, kinds, strict=True):
            wait(lambda: trained_to(run_id) >= at, served)  # noqa: B023
            if victim(kind, run_id, served) is None:  # it is being started again: train no further meanwhile
                with RunControl(folder) as control:
                    control.pause()
                    wait(lambda: victim(kind, run_id, served), served)  # noqa: B023
                    control.resume()
            known = kept(folder)
            lost += len(before - known)
            pid = _kill(lambda: victim(kind, run_id, served), served)  # noqa: B023
            done[kind] += 1
            killed = time.monotonic()
            before = kept(folder)
            lost += len(known - before)
            if kind == WORKER:
                wait(lambda: victim(WORKER, run_id, served) not in (None, pid), served)  # noqa: B023
                back.append(time.monotonic() - killed)
        wait(lambda: _state(run_id) in ("done", "failed"), served, 900)
        found = queue.state(run_id)
        assert found is not None and found.state == "done", found
        lost += len(before - kept(folder))
        starts = served.starts
    seconds = time.monotonic() - began
    Execution(load(plain), runs_folder / "alone").run()
    with open_run(folder) as killed_run, sandbox.open_run(runs_folder / "alone") as alone:
        assert_same_numbers(alone, killed_run, live=True)
    note(
        kills=KILLS, **{f"killed_{kind}": n for kind, n in done.items()}, lost_snapshots=lost, steps=steps,
        snapshots=len(kept(folder)), workers=found.attempt, serve_starts=starts, seconds=round(seconds),
        worker_back_seconds=[round(min(back), 2), round(max(back), 2)] if back else None, same_bits=True,
    )  # fmt: skip
    assert lost == 0


def _kill(whom: Callable[[], int | None], served: Served) -> int:
    """Kill whom it is, as soon as there is somebody, and say who it was."""
    while True:
        wait(whom, served)
        pid = whom()
        try:
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
                return pid
        except ProcessLookupError:  # it has just ended by itself, with its supervisor
            continue


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def trained_to(run_id: str) -> int:
    found = queue.state(run_id)
    assert found is not None and found.state not in ("failed", "stopped"), found
    return found.step


def _state(run_id: str) -> str:
    found = queue.state(run_id)
    return found.state if found else ""
