"""Two supervisors at once are one, and a clock that jumps changes no order and calls nobody dead."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sandbox.runner import queue
from sandbox.runner.control import supervisor_runs
from tests.faults.conftest import Note
from tests.runner.small import tiny
from tests.runner.test_supervisor import ROOT, supervising
from tests.runner.waiting import eventually, known

PAIRS = 10
pytestmark = [pytest.mark.faults, pytest.mark.timeout(1200)]


def test_of_two_supervisors_started_at_once_one_serves(runs_folder: Path, note: Note) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "sandbox.runner.supervisor"]
    refused = 0
    for _ in range(PAIRS):
        run_id = queue.enqueue(tiny(steps=3), "ann")
        pair = [
            subprocess.Popen(
                command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            for _ in range(2)
        ]
        try:
            eventually(lambda: known(run_id).state == "done", 200)  # noqa: B023
            codes = [one.poll() for one in pair]
            assert sorted(codes, key=str) == [2, None], codes
            refused += 1
            assert known(run_id).attempt == 1 and supervisor_runs(runs_folder)
        finally:
            for one in pair:
                assert one.stdin is not None
                one.stdin.close()
                one.wait(timeout=30)
    note(pairs=PAIRS, second_refused=refused, runs_started_twice=0)


@pytest.mark.parametrize("jump", [86_400.0, -86_400.0], ids=["a day forward", "a day back"])
def test_a_clock_that_jumps_keeps_order_and_states(
    runs_folder: Path, monkeypatch: pytest.MonkeyPatch, note: Note, jump: float
) -> None:
    true, offset, states = time.time, [0.0], set()
    monkeypatch.setattr(time, "time", lambda: true() + offset[0])
    with supervising(runs_folder, at_once=1):
        first = queue.enqueue({"steps": 150}, "ann")
        waiting = [queue.enqueue({"steps": 2}, owner) for owner in ("ann", "bob")]
        eventually(lambda: known(first).step > 5)
        offset[0] = jump
        waiting += [queue.enqueue({"steps": 2}, owner) for owner in ("ann", "bob")]
        deadline = time.monotonic() + 180
        while not all(known(run_id).state == "done" for run_id in [first, *waiting]):
            states |= {known(run_id).state for run_id in [first, *waiting]}
            assert time.monotonic() < deadline
            time.sleep(0.01)
    with queue.catalogue_connection() as connection:
        served = [row[0] for row in connection.execute("SELECT id FROM runs ORDER BY began")]
    assert "stalled" not in states and served == [first, waiting[1], waiting[0], waiting[3], waiting[2]]
    assert all(known(run_id).attempt == 1 for run_id in served)
    note(jump_seconds=jump, runs=len(served), called_stalled=0, out_of_order=0)
