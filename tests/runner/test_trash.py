"""Deleting a run: never one that is not over, never for good before a day has passed."""

import fcntl
import json
import os
import sqlite3
import time
from pathlib import Path

import pytest

from sandbox.foundations.errors import RunUnavailable
from sandbox.runner import gallery, queue, trash
from sandbox.store import open_run, run_path
from sandbox.store.labels import Labels
from tests.pages.conftest import record


@pytest.fixture
def run_id(runs_folder: Path) -> str:
    return record(runs_folder, "quiet-test-run")


def listed() -> dict[str, gallery.Entry]:
    return {entry.id: entry for entry in gallery.entries()[0]}


def test_a_deleted_run_leaves_every_list_and_comes_back_whole(run_id: str, runs_folder: Path) -> None:
    before = queue.state(run_id)
    trash.delete(run_id, "local")
    assert (queue.state(run_id), listed()) == (None, {})
    assert [run.id for run in trash.deleted()] == [run_id]
    trash.restore(run_id, "ann")
    assert queue.state(run_id) == before
    assert list(listed()) == [run_id]
    assert trash.deleted() == []
    with open_run(run_path(run_id)) as run:
        assert len(run.curve("loss", "standard", 0)[0]) == 101
    assert not (run_path(run_id) / trash.SLIP).exists()


@pytest.mark.parametrize("state", ["queued", "running", "paused", "stalled"])
def test_a_run_that_is_not_over_stays(run_id: str, state: str) -> None:
    with queue.catalogue_connection() as connection:
        connection.execute("UPDATE runs SET state = ?", (state,))
    with pytest.raises(RunUnavailable, match="stop it first"):
        trash.delete(run_id, "local")
    assert list(listed()) == [run_id]


def test_a_run_that_somebody_writes_stays(run_id: str) -> None:
    descriptor = os.open(run_path(run_id) / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        with pytest.raises(RunUnavailable, match="being written"):
            trash.delete(run_id, "local")
    finally:
        os.close(descriptor)
    assert queue.state(run_id) is not None
    assert list(listed()) == [run_id]


def test_only_the_owner_deletes(run_id: str) -> None:
    with pytest.raises(RunUnavailable, match="only its owner"):
        trash.delete(run_id, "somebody")
    assert list(listed()) == [run_id]


def test_where_owners_steer_only_the_owner_puts_back(run_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with queue.catalogue_connection() as connection:
        connection.execute("UPDATE runs SET owner = 'ann'")
    trash.delete(run_id, "ann")
    monkeypatch.setenv("SANDBOX_STEER", "owner")
    with pytest.raises(RunUnavailable, match="This is ann's"):
        trash.restore(run_id, "bob")
    trash.restore(run_id, "ann")
    assert list(listed()) == [run_id]


def test_a_run_deleted_under_an_earlier_version_comes_back_into_the_queue(run_id: str) -> None:
    trash.delete(run_id, "local")
    (lying,) = trash.deleted()
    slip = json.loads((lying.folder / trash.SLIP).read_text())
    del slip["queue"]["torch"]
    (lying.folder / trash.SLIP).write_text(json.dumps(slip))
    trash.restore(run_id, "ann")
    assert queue.state(run_id) is not None


def test_a_day_is_a_day(run_id: str) -> None:
    trash.delete(run_id, "local")
    (lying,) = trash.deleted()
    assert trash.purge(now=lying.deleted + trash.DAY - 1) == []
    assert trash.purge(now=lying.deleted - 5) == []
    assert trash.purge(now=lying.deleted + trash.DAY) == [run_id]
    assert trash.deleted() == []
    assert not lying.folder.exists()
    with pytest.raises(RunUnavailable, match="not in the trash"):
        trash.restore(run_id, "ann")


def test_the_same_id_can_be_deleted_twice(run_id: str, runs_folder: Path) -> None:
    trash.delete(run_id, "local")
    record(runs_folder, run_id)
    with pytest.raises(RunUnavailable, match="another run"):
        trash.restore(run_id, "ann")
    trash.delete(run_id, "local")
    assert [run.id for run in trash.deleted()] == [run_id, run_id]


def test_a_damaged_slip_deletes_nothing(run_id: str) -> None:
    trash.delete(run_id, "local")
    (lying,) = trash.deleted()
    (lying.folder / trash.SLIP).write_text("{")
    assert trash.purge() == []
    assert trash.purge(now=time.time() + trash.DAY + 5) == [run_id]


def test_a_run_that_never_began_can_be_deleted_and_restored(runs_folder: Path) -> None:
    run_id = queue.enqueue({"schema": 1, "steps": 9}, "local")
    queue.stop(run_id)
    assert listed()[run_id].state == "stopped"
    trash.delete(run_id, "local")
    assert listed() == {}
    trash.restore(run_id, "ann")
    assert listed()[run_id].state == "stopped"


def test_a_new_name_is_the_queues_name_too_and_a_pin_goes_on_top(run_id: str, runs_folder: Path) -> None:
    record(runs_folder, "young-test-run")
    gallery.label(run_id, Labels(name="the good one", tags=("kept",)))
    gallery.pin(run_id, True)
    found = queue.state(run_id)
    assert found is not None
    assert found.name == "the good one"
    first = gallery.entries()[0][0]
    assert (first.id, first.name, first.labels.tags, first.labels.pinned) == (
        run_id, "the good one", ("kept",), True,
    )  # fmt: skip


def test_a_folder_that_says_running_with_nobody_at_it_is_interrupted(run_id: str) -> None:
    with queue.catalogue_connection() as connection:
        connection.execute("DELETE FROM runs")
    record_state = json.dumps({"state": "running", "step": 5, "seconds": 1.0, "reason": ""})
    with sqlite3.connect(run_path(run_id) / "run.sqlite") as connection:
        connection.execute("UPDATE meta SET value = ? WHERE key = 'status'", (record_state,))
    connection.close()
    assert listed()[run_id].state == "interrupted"
