"""The real thing: a supervisor process with torch preloaded, workers that train, and what survives a kill."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import sandbox
from sandbox.foundations.errors import SandboxError
from sandbox.runner import queue
from sandbox.runner.control import RunControl, ensure_supervisor, start_supervisor, supervisor_runs
from sandbox.runner.pace import read_pace
from sandbox.store import open_run
from tests.runner.small import assert_same_numbers, tiny, tiny_experiment
from tests.runner.waiting import eventually, known

ROOT = Path(__file__).resolve().parents[2]
STEPS = 120


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A runs folder with a supervisor that is warm: its fork server has loaded torch."""
    runs = tmp_path_factory.mktemp("served") / "runs"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SANDBOX_MAX_HOURS", "3")
        process = start_supervisor(runs)
    eventually(lambda: list(runs.glob("catalogue-*.json")))
    yield runs
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(timeout=20) == 0


@pytest.fixture
def runs(served: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SANDBOX_RUNS", str(served))
    return served


@pytest.mark.slow
def test_the_fork_server_has_torch_loaded_before_a_worker_begins() -> None:
    script = "from sandbox.runner.children import Children\nprint(Children().start())"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "True"


def test_a_preload_that_fails_is_noticed(tmp_path: Path) -> None:
    script = "from sandbox.runner.children import Children\nprint(Children(preload='no_such_module').start())"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


@pytest.mark.slow
def test_a_run_from_the_queue_is_recorded_and_says_that_it_is_done(runs: Path) -> None:
    run_id = queue.enqueue(tiny(steps=5), "ann", name="a first run")
    eventually(lambda: known(run_id).state == "done")
    with open_run(runs / run_id) as run:
        assert run.status["state"] == "done"
        assert_same_numbers(sandbox.train(tiny_experiment(steps=5)), run, live=True)


@pytest.mark.slow
def test_a_worker_killed_twice_ends_with_the_bits_of_one_that_was_not(runs: Path) -> None:
    run_id = queue.enqueue(tiny(steps=STEPS), "ann")
    for kills in (1, 2):
        eventually(lambda: known(run_id).pid and _recorded(runs / run_id) > 25 * kills)  # noqa: B023
        pid = known(run_id).pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        killed = time.monotonic()
        before = _recorded(runs / run_id)
        eventually(lambda: known(run_id).pid not in (None, pid))  # noqa: B023
        assert time.monotonic() - killed < 2.0
        assert _recorded(runs / run_id) >= before
    eventually(lambda: known(run_id).state == "done")
    assert known(run_id).attempt == 3
    with open_run(runs / run_id) as run:
        assert_same_numbers(sandbox.train(tiny_experiment(steps=STEPS)), run, live=True)


def test_buttons_reach_a_worker_and_a_paused_run_stays_paused_through_a_kill(runs: Path) -> None:
    run_id = queue.enqueue(tiny(steps=100_000), "ann")
    eventually(lambda: known(run_id).step > 2)
    with RunControl(runs / run_id) as control:
        control.pause()
        eventually(lambda: known(run_id).state == "paused")
        held = known(run_id).step
        for _ in range(3):  # more often than a running worker may die at one step
            pid = known(run_id).pid
            assert pid is not None
            eventually(lambda: _saved(runs / run_id) == held)
            os.kill(pid, signal.SIGKILL)
            eventually(lambda: known(run_id).pid not in (None, pid) and known(run_id).state == "paused")  # noqa: B023
        assert known(run_id).step == held
        control.step(2)
        eventually(lambda: known(run_id).step == held + 2)
    queue.stop(run_id)
    eventually(lambda: known(run_id).state == "stopped")
    assert known(run_id).step == open_run(runs / run_id).status["step"] == held + 2


@pytest.mark.slow
def test_a_run_that_asks_too_much_fails_with_a_sentence(runs: Path) -> None:
    run_id = queue.enqueue(tiny(steps=1_000_000, seeds=list(range(128)), batch_size=4096), "ann")
    eventually(lambda: known(run_id).state == "failed")
    assert "may use" in known(run_id).reason


def test_what_a_run_took_is_what_the_next_one_is_expected_to_take(runs: Path) -> None:
    run_id = queue.enqueue(tiny_experiment(steps=40).to_plain(), "ann")
    eventually(lambda: known(run_id).state == "done")
    with open_run(runs / run_id) as run:
        measured = run.status["seconds"] / 40
    flops = queue.check(tiny(steps=40), timeout=30)["cost"]["flops"] / 40
    with queue.catalogue_connection() as connection:
        guess = read_pace(connection).guess(tiny_experiment(steps=40).to_plain(), flops)
    assert guess.seconds == pytest.approx(measured) and "of these settings" in guess.basis


@pytest.mark.slow
def test_an_idle_machine_is_warmed_up_once(runs: Path) -> None:
    eventually(_warm_up)
    assert "torch" in _warm_up()
    for (few, quick), (many, slow) in _warm_up().values():
        assert 0 < few < many and 0 < quick < 30 and 0 < slow < 30  # a busy machine may turn them round


@pytest.mark.slow
def test_what_is_beyond_this_server_is_refused_before_it_is_queued(runs: Path) -> None:
    answer = queue.check(tiny(steps=1_000_000, seeds=list(range(100)), batch_size=512), timeout=30)
    assert not answer["ok"] and "hours here" in answer["error"]


def test_questions_about_experiments_are_answered(runs: Path) -> None:
    sound = queue.check(tiny(), timeout=30)
    assert sound["ok"] and [arm["name"] for arm in sound["arms"]] == ["standard", "spectral:shift=0.5"]
    wrong = queue.check(tiny(steps=float("nan")), timeout=30)
    assert not wrong["ok"] and "nan" in wrong["error"]
    assert "conditioned against standard" in queue.catalogue()["presets"]


@pytest.mark.slow
def test_a_program_alone_starts_a_supervisor_that_ends_with_it(tmp_path: Path) -> None:
    runs = tmp_path / "alone"
    script = (
        "import os, sys\nfrom sandbox.runner.control import ensure_supervisor\n"
        "print(ensure_supervisor(), flush=True)\nsys.stdin.read()"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SANDBOX_RUNS": str(runs)}
    with subprocess.Popen(
        [sys.executable, "-c", script], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline().strip() == b"True"
        assert supervisor_runs(runs)
        program.kill()
    eventually(lambda: not supervisor_runs(runs))


def test_where_one_runs_no_second_supervisor_is_started(runs: Path) -> None:
    assert ensure_supervisor(timeout=5)


def _recorded(folder: Path) -> int:
    try:
        with open_run(folder) as run:
            steps, _ = run.group_curve("loss", "standard")
            return int(steps[-1]) if len(steps) else 0
    except SandboxError:
        return 0


def _warm_up() -> dict[str, Sequence[tuple[float, float]]]:
    with queue.catalogue_connection() as connection:
        return dict(read_pace(connection).warm_up)


def _saved(folder: Path) -> int:
    return max((int(file.stem.split("-")[1]) for file in folder.glob("checkpoint-*.safetensors")), default=-1)
