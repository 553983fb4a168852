"""The supervisor with jobs that need no torch: queue, deaths, locks and questions."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.context import ForkServerProcess
from multiprocessing.forkserver import _forkserver
from pathlib import Path

import pytest

from sandbox.foundations.errors import InvalidPlain, RunUnavailable
from sandbox.runner import queue
from sandbox.runner.children import Children
from sandbox.runner.control import supervisor_runs
from sandbox.runner.retry import SAME_STEP
from sandbox.runner.supervisor import Supervisor
from tests.runner.fake_jobs import fake_answers, fake_job
from tests.runner.waiting import alive, eventually, known

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def supervising(runs: Path, at_once: int = 2) -> Iterator[Supervisor]:
    supervisor = Supervisor(runs, Children(fake_job, fake_answers, preload=""), at_once)
    thread = threading.Thread(target=supervisor.run)
    thread.start()
    try:
        yield supervisor
    finally:
        supervisor.end()
        thread.join(timeout=20)
        assert not thread.is_alive()


def test_runs_are_done_in_the_order_they_were_asked_for(runs_folder: Path) -> None:
    ids = [queue.enqueue({"steps": 3}, "ann") for _ in range(3)]
    assert [queue.position(run_id) for run_id in ids] == [1, 2, 3]
    with supervising(runs_folder, at_once=1):
        eventually(lambda: all(known(run_id).state == "done" for run_id in ids))
    finished = [known(run_id).finished or 0 for run_id in ids]
    assert finished == sorted(finished) and known(ids[0]).step == 3


def test_no_more_workers_train_at_once_than_allowed(runs_folder: Path) -> None:
    ids = [queue.enqueue({"steps": 100}, "ann") for _ in range(3)]
    with supervising(runs_folder, at_once=2):
        eventually(lambda: [known(run_id).state for run_id in ids] == ["running", "running", "queued"])
        queue.stop(ids[0])
        eventually(lambda: known(ids[2]).state == "running")
        assert known(ids[0]).state == "stopped"


def test_a_waiting_run_that_is_stopped_leaves_the_queue_at_once(runs_folder: Path) -> None:
    run_id = queue.enqueue({"steps": 3}, "ann")
    queue.stop(run_id)
    assert (known(run_id).state, queue.position(run_id)) == ("stopped", 0)
    queue.requeue(run_id)
    with supervising(runs_folder):
        eventually(lambda: known(run_id).state == "done")


def test_a_killed_worker_is_running_again_within_two_seconds(runs_folder: Path) -> None:
    run_id = queue.enqueue({"steps": 400}, "ann")
    with supervising(runs_folder):
        eventually(lambda: known(run_id).step > 5 or (runs_folder / run_id / "reached").exists())
        first = known(run_id).pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        killed = time.monotonic()
        eventually(lambda: known(run_id).pid not in (None, first))
        eventually(lambda: len((runs_folder / run_id / "pids").read_text().split()) == 2)
        assert time.monotonic() - killed < 2.0
        assert known(run_id).attempt == 2


def test_a_worker_that_always_dies_at_one_step_has_failed_with_a_reason(
    runs_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox.runner.retry.SETTLED", 0.0)
    monkeypatch.setattr("sandbox.runner.retry.FIRST_REST", 0.01)
    run_id = queue.enqueue({"steps": 10, "dies_at": 4}, "ann")
    with supervising(runs_folder):
        eventually(lambda: known(run_id).state == "failed")
    assert known(run_id).attempt == SAME_STEP and "memory" in known(run_id).reason


def test_a_run_that_rests_after_deaths_keeps_no_other_waiting(
    runs_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox.runner.retry.FIRST_REST", 60.0)
    monkeypatch.setattr("sandbox.runner.retry.LONGEST_REST", 60.0)
    dying = queue.enqueue({"steps": 10, "dies_at": 4}, "ann")
    sound = queue.enqueue({"steps": 3}, "ann")
    with supervising(runs_folder, at_once=1):
        eventually(lambda: known(sound).state == "done")
        assert (known(dying).state, known(dying).attempt) == ("queued", 2)


@pytest.mark.slow
def test_the_end_of_the_fork_server_is_survived_and_counts_for_nobody(runs_folder: Path) -> None:
    run_id = queue.enqueue({"steps": 300}, "ann")
    with supervising(runs_folder):
        for attempt in range(1, 4):
            eventually(lambda n=attempt: known(run_id).attempt == n and known(run_id).step > 0)
            os.kill(_forkserver._forkserver_pid, signal.SIGKILL)  # type: ignore[attr-defined]
        eventually(lambda: known(run_id).state == "done")
        assert queue.check({"a": 1})["ok"]
    assert known(run_id).step == 300


def test_a_fork_server_that_dies_at_the_start_of_a_worker_is_started_again(
    runs_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    children = Children(fake_job, fake_answers, preload="")
    failures = [EOFError(), ConnectionRefusedError()]
    start = ForkServerProcess.start

    def refused(self: ForkServerProcess) -> None:
        if failures:
            raise failures.pop()
        start(self)

    monkeypatch.setattr(ForkServerProcess, "start", refused)
    checker = children.checker()
    assert checker.alive() and not failures
    checker.end()


def test_a_second_supervisor_of_the_folder_is_refused(runs_folder: Path) -> None:
    assert not supervisor_runs(runs_folder)
    with supervising(runs_folder):
        assert supervisor_runs(runs_folder)
        with pytest.raises(RunUnavailable, match="already runs"):
            Supervisor(runs_folder, Children(fake_job, fake_answers, preload=""))
        done = subprocess.run(
            [sys.executable, "-m", "sandbox.runner.supervisor"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2 and "already runs" in done.stderr
    assert not supervisor_runs(runs_folder)


HOLDER = """
import sys
from sandbox.runner.children import Children
from sandbox.runner.supervisor import Supervisor
from sandbox.store import runs_root
from tests.runner.fake_jobs import fake_answers, fake_job
if __name__ == "__main__":
    Supervisor(runs_root(), Children(fake_job, fake_answers, preload="")).run(lifeline=sys.stdin.fileno())
"""


def test_workers_end_with_a_killed_supervisor_and_the_next_one_takes_their_runs_up(
    runs_folder: Path, tmp_path: Path
) -> None:
    script = tmp_path / "holder.py"
    script.write_text(HOLDER)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run_id = queue.enqueue({"steps": 300}, "ann")
    with subprocess.Popen([sys.executable, str(script)], stdin=subprocess.PIPE, env=environment) as holder:
        eventually(lambda: (runs_folder / run_id / "reached").exists())
        worker = int((runs_folder / run_id / "pids").read_text().split()[0])
        holder.kill()
        holder.wait()
        eventually(lambda: not alive(worker), seconds=5)
    assert known(run_id).state == "running"  # nobody was left to say otherwise
    before = int((runs_folder / run_id / "reached").read_text())
    with supervising(runs_folder):
        eventually(lambda: len((runs_folder / run_id / "pids").read_text().split()) == 2)
        eventually(lambda: int((runs_folder / run_id / "reached").read_text()) > before)


def test_a_supervisor_ends_with_its_workers_when_its_input_closes(runs_folder: Path, tmp_path: Path) -> None:
    script = tmp_path / "holder.py"
    script.write_text(HOLDER)
    run_id = queue.enqueue({"steps": 300}, "ann")
    with subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}
    ) as holder:
        eventually(lambda: (runs_folder / run_id / "reached").exists())
        worker = int((runs_folder / run_id / "pids").read_text().split()[0])
        assert holder.stdin is not None
        holder.stdin.close()
        assert holder.wait(timeout=10) == 0
    assert not alive(worker)


def test_questions_are_answered_also_after_one_that_ends_the_process(runs_folder: Path) -> None:
    with supervising(runs_folder):
        assert queue.check({"a": 1})["plain"] == {"a": 1}
        refused = queue.check({"die": True})
        assert not refused["ok"] and "smaller" in refused["error"]
        assert queue.check({"a": 2})["ok"]
        assert queue.catalogue() == {"schema": 1}


def test_a_question_without_a_supervisor_is_answered_with_a_sentence(runs_folder: Path) -> None:
    answer = queue.check({"a": 1}, timeout=0.05)
    assert not answer["ok"] and "did not answer" in answer["error"]


def test_what_cannot_be_an_experiment_is_refused_before_it_is_queued(runs_folder: Path) -> None:
    with pytest.raises(InvalidPlain, match="characters"):
        queue.enqueue({"x": "y" * 300_000}, "ann")
    with pytest.raises(InvalidPlain, match="JSON"):
        queue.enqueue({"x": object()}, "ann")
    assert queue.states() == []


def test_states_list_the_newest_first_and_one_owner_alone(runs_folder: Path) -> None:
    ids = [queue.enqueue({"steps": 1}, owner) for owner in ("ann", "bob", "ann")]
    assert [run.id for run in queue.states()] == ids[::-1]
    assert [run.id for run in queue.states("ann")] == [ids[2], ids[0]]


@pytest.mark.parametrize("run_id", ["../x", "a/b", "", "x" * 65, "'; DROP TABLE runs; --"])
def test_no_typed_text_becomes_a_path(run_id: str) -> None:
    with pytest.raises(RunUnavailable):
        queue.stop(run_id)


def test_a_catalogue_of_other_sources_is_dropped_at_the_start(runs_folder: Path) -> None:
    runs_folder.mkdir()
    (runs_folder / "catalogue-0123.json").write_text('{"schema": "of old sources"}')
    with supervising(runs_folder):
        assert queue.catalogue() == {"schema": 1}
    assert len(list(runs_folder.glob("catalogue-*.json"))) == 1


def test_without_a_supervisor_the_catalogue_is_not_there_and_says_so(runs_folder: Path) -> None:
    with pytest.raises(RunUnavailable, match="described itself"):
        queue.catalogue(timeout=0.05)
