"""A queue for many: owners take turns, what nobody watches makes way, memory that ran out is said as such."""

import os
import signal
import time
from pathlib import Path

import pytest

from sandbox.foundations.errors import InvalidExperiment
from sandbox.runner import pace, queue, watching
from sandbox.runner.limits import refuse_beyond, stored_bytes
from sandbox.runner.memory import MemoryWatch, oom_kills, resident
from sandbox.runner.retry import RetryRule
from tests.runner.test_supervisor import supervising
from tests.runner.waiting import eventually, known

PLAIN = {"task": {"kind": "t"}, "model": {"kind": "m"}, "seeds": [0], "steps": 100, "arms": [{"name": "a"}]}


def test_one_owner_with_many_runs_lets_another_in_after_the_first(runs_folder: Path) -> None:
    ann = [queue.enqueue({"steps": 3}, "ann") for _ in range(3)]
    bob = queue.enqueue({"steps": 3}, "bob")
    assert [queue.position(run_id) for run_id in [*ann, bob]] == [1, 3, 4, 2]
    with supervising(runs_folder, at_once=1):
        eventually(lambda: all(known(run_id).state == "done" for run_id in [*ann, bob]))
    ends = {run_id: known(run_id).finished or 0.0 for run_id in [*ann, bob]}
    assert sorted(ends, key=ends.__getitem__) == [ann[0], bob, ann[1], ann[2]]


def test_what_nobody_watches_makes_way_and_goes_on_in_its_turn(
    runs_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_UNWATCHED_MINUTES", str(0.5 / 60))
    first = queue.enqueue({"steps": 1, "until": "enough"}, "ann")
    with supervising(runs_folder, at_once=1):
        eventually(lambda: known(first).step > 0, 60)
        other = queue.enqueue({"steps": 3}, "bob")
        eventually(lambda: known(other).state == "done", 60)
        before = known(first).step
        eventually(lambda: known(first).step > before, 60)
        (runs_folder / first / "enough").touch()
        eventually(lambda: known(first).state == "done", 60)
    assert known(first).attempt >= 2


def test_one_that_has_stalled_makes_way_and_goes_on_like_one_that_trains(
    runs_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_UNWATCHED_MINUTES", str(0.5 / 60))
    first = queue.enqueue({"steps": 1, "until": "enough"}, "ann")
    with supervising(runs_folder, at_once=1) as supervisor:
        eventually(lambda: known(first).step > 0, 60)
        let_in = supervisor._let_others_in

        def stalled_first() -> None:
            for worker in supervisor._workers.values():
                worker.state = "stalled"  # so it is while a worker of a busy machine says nothing
            let_in()

        monkeypatch.setattr(supervisor, "_let_others_in", stalled_first)
        other = queue.enqueue({"steps": 3}, "bob")
        eventually(lambda: known(other).state == "done", 60)
        eventually(lambda: known(first).state == "running", 60)
        (runs_folder / first / "enough").touch()
        eventually(lambda: known(first).state == "done", 60)


@pytest.mark.parametrize("reason", ["watched", "keeps on", "same owner"])
def test_a_run_that_is_watched_or_opted_out_is_left_alone(
    runs_folder: Path, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = queue.enqueue(PLAIN, "ann", keeps_on=reason == "keeps on")
    queue.enqueue(PLAIN, "ann" if reason == "same owner" else "bob")
    true, ahead = time.monotonic, [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: true() + ahead[0])
    watched = watching.Watched(runs_folder)
    with queue.catalogue_connection() as connection:
        connection.execute("UPDATE runs SET state = 'running' WHERE id = ?", (own,))

        def makes_way(state: str) -> str | None:
            return watched.who_makes_way(connection, {own: state})

        assert makes_way("running") is None
        ahead[0] += watching.patience() + 1
        assert makes_way("running") == (own if reason == "watched" else None)
        # Pausing and leaving keeps nobody waiting for ever, whatever was opted out of.
        assert makes_way("paused") == own
        watching.seen(own)
        assert makes_way("paused") is None and makes_way("running") is None


def test_a_kill_near_the_limit_is_want_of_memory_and_another_is_not() -> None:
    watch = MemoryWatch(os.getpid(), limit=10)
    watch.look()
    assert watch.held == pytest.approx(resident(os.getpid()), rel=0.2) and watch.held > 1e7
    assert watch.ran_out(-signal.SIGKILL) and not watch.ran_out(-signal.SIGTERM) and not watch.ran_out(1)
    roomy = MemoryWatch(os.getpid(), limit=2**50)
    roomy.look()
    assert not roomy.ran_out(-signal.SIGKILL)


def test_what_the_kernel_counts_is_read_from_the_control_group(tmp_path: Path) -> None:
    (tmp_path / "memory.events").write_text("low 0\nhigh 3\nmax 9\noom 2\noom_kill 5\n")
    assert oom_kills(tmp_path) == 5


def test_memory_that_ran_out_is_tried_once_more_and_then_said() -> None:
    rule = RetryRule()

    def die(step: int) -> str | None:
        return rule.after_death("r", step, -signal.SIGKILL, stayed=9.0, paused=False, out_of_memory=3 * 10**9)

    assert die(10) is None
    assert rule.after_death("r", 40, -signal.SIGKILL, stayed=9.0, paused=False) is None
    said = die(50)
    assert said is not None and "Out of memory" in said and "3.0 GB" in said and "step 50" in said


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("SANDBOX_MAX_STEPS", "99", "100 steps"),
        ("SANDBOX_MAX_HOURS", "0.001", "hours here"),
        ("SANDBOX_WORKER_GB", "0.5", "memory"),
        ("SANDBOX_RUN_GB", "0.001", "a run may take 1 MB"),
        ("SANDBOX_RUNS_GB", "0.001", "the runs here take"),
    ],
)
def test_each_limit_is_one_sentence_with_what_is_asked_and_allowed(
    runs_folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str
) -> None:
    cost = {"flops": 1e12, "bytes": 1e9, "storage": 5e6}
    monkeypatch.setenv("SANDBOX_WORKER_GB", "4")
    refuse_beyond(PLAIN, cost)
    monkeypatch.setenv(name, value)
    with pytest.raises(InvalidExperiment, match=words) as refused:
        refuse_beyond(PLAIN, cost)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 300


def test_a_full_disk_is_seen_before_a_run_begins(runs_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.runner.limits.free_bytes", lambda: 201e6)
    refuse_beyond(PLAIN, {"storage": 0.5e6})
    with pytest.raises(InvalidExperiment, match="201 MB free"):
        refuse_beyond(PLAIN, {"storage": 2e6})


def test_what_is_stored_is_the_sum_of_all_files(runs_folder: Path) -> None:
    (runs_folder / "a" / "b").mkdir(parents=True)
    (runs_folder / "a" / "x").write_bytes(b"1" * 700)
    (runs_folder / "a" / "b" / "y").write_bytes(b"1" * 55)
    assert stored_bytes(runs_folder) == 755


def test_a_queue_of_an_earlier_version_gains_its_columns(runs_folder: Path) -> None:
    runs_folder.mkdir()
    with queue.catalogue_connection() as connection:
        connection.execute("ALTER TABLE runs DROP COLUMN keeps_on")
        connection.execute("DROP TABLE paces")
    run_id = queue.enqueue(PLAIN, "ann", keeps_on=True)
    with queue.catalogue_connection() as connection:
        assert connection.execute("SELECT keeps_on FROM runs WHERE id = ?", (run_id,)).fetchone() == (1,)
        assert pace.read_pace(connection).past == []
