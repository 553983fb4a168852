"""The feed: reads what the store writes, from a live run and from a recorded one that cannot be written."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sandbox.foundations.errors import RunUnavailable
from sandbox.live import hub
from sandbox.live.feed import Feed
from sandbox.live.hello import reference_lines
from sandbox.live.queue_word import queue_word
from sandbox.runner import queue
from sandbox.store import open_run

Made = Callable[..., Any]


def test_a_feed_knows_the_same_numbers_as_the_store(tmp_path: Path, made_up: Made, feed_of: Made) -> None:
    run = made_up(tmp_path / "run", arms=2)
    feed = feed_of(tmp_path / "run")
    for step in (0, 33, 120):
        run.grow(step)
        assert feed.refresh() and not feed.refresh()
    stored = open_run(tmp_path / "run")
    for arm, name in enumerate(feed.arms):
        steps, values = stored.group_curve("test_accuracy", name)
        np.testing.assert_array_equal(feed.rows[arm, "test_accuracy"].steps, steps)
        np.testing.assert_array_equal(feed.rows[arm, "test_accuracy"].values, values.astype(np.float32))
    assert feed.step == 120 and feed.status["state"] == "running"


def test_rows_that_a_resumed_run_writes_again_are_not_doubled(
    tmp_path: Path, made_up: Made, feed_of: Made
) -> None:
    run = made_up(tmp_path / "run", arms=1)
    run.grow(80)
    feed = feed_of(tmp_path / "run")
    feed.refresh()
    run.step = 40
    run.grow(100)
    feed.refresh()
    assert feed.rows[0, "loss"].steps.tolist() == list(range(101))
    assert feed.rows[0, "test_loss"].steps.tolist() == [0, 20, 40, 60, 80, 100]


def test_a_folder_that_is_not_there_yet_is_waited_for(tmp_path: Path, made_up: Made, feed_of: Made) -> None:
    feed = feed_of(tmp_path / "run")
    assert not feed.refresh() and not feed.ready and feed.status["state"] == "queued"
    made_up(tmp_path / "run", arms=1).grow(0)
    assert feed.refresh() and feed.ready


def test_a_recorded_run_is_read_without_leaving_a_file(
    tmp_path: Path, made_up: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "ASSETS", tmp_path)
    run = made_up(tmp_path / "recorded" / "demo", arms=1)
    run.grow(40)
    run.finish()
    folder, recorded = hub.folder_of("recorded:demo")
    before = sorted(path.name for path in folder.iterdir())
    feed = Feed("recorded:demo", folder, recorded=recorded)
    assert recorded and feed.refresh() and feed.step == 40 and feed.status["state"] == "done"
    assert sorted(path.name for path in folder.iterdir()) == before
    feed.close()


DAMAGE = {
    "text": "INSERT OR REPLACE INTO meta VALUES ('notes', '{')",
    "nested": f"INSERT OR REPLACE INTO meta VALUES ('notes', '{'[' * 30_000}')",
    "arms": "INSERT OR REPLACE INTO meta VALUES ('arms', '[{}]')",
    "kinds": "INSERT OR REPLACE INTO meta VALUES ('reading/0/theta', '7')",
    "experiment": "INSERT OR REPLACE INTO meta VALUES ('experiment', '7')",
    "status": """INSERT OR REPLACE INTO meta VALUES ('status', '{"step": "x"}')""",
    "short row": "UPDATE scalars SET data = x'00'",
    "step": "UPDATE scalars SET step = 1 << 40 WHERE step = 40",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_run_whose_rows_are_no_numbers_has_failed_and_says_why(
    tmp_path: Path, made_up: Made, feed_of: Made, damage: str
) -> None:
    run = made_up(tmp_path / "run", arms=1)
    run.grow(40)
    run.finish()
    with sqlite3.connect(tmp_path / "run" / "run.sqlite") as connection:
        connection.execute(damage)
    connection.close()
    feed = feed_of(tmp_path / "run")
    assert feed.refresh() and not feed.refresh() and not feed.ready
    assert feed.status["state"] == "failed"
    assert feed.status["reason"].startswith("run.sqlite is damaged: ")


def test_a_file_that_is_no_database_is_told_once_and_logged_once(
    tmp_path: Path, feed_of: Made, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.sqlite").write_bytes(b"no database at all" * 100)
    feed = feed_of(tmp_path / "run")
    assert [feed.refresh() for _ in range(3)] == [True, False, False]
    feed.queued_state = {"state": "running", "reason": ""}
    assert feed.status["state"] == "failed" and "not a database" in feed.status["reason"]
    assert len(caplog.records) == 1


def test_damage_that_is_repaired_is_forgotten(tmp_path: Path, made_up: Made, feed_of: Made) -> None:
    run = made_up(tmp_path / "run", arms=1)
    run.grow(20)
    feed = feed_of(tmp_path / "run")
    with sqlite3.connect(tmp_path / "run" / "run.sqlite") as connection:
        connection.execute("INSERT INTO meta VALUES ('odd', '{')")
        connection.commit()
        assert feed.refresh() and feed.status["state"] == "failed"
        connection.execute("DELETE FROM meta WHERE key = 'odd'")
    connection.close()
    assert feed.refresh() and feed.ready and feed.status["state"] == "running" and feed.step == 20


@pytest.mark.parametrize("run_id", ["..", "a/b", "recorded:", "recorded:../runs", "", "é"])
def test_no_id_leads_out_of_its_folder(run_id: str) -> None:
    with pytest.raises(RunUnavailable):
        hub.folder_of(run_id)


def test_reference_lines_are_numbers_by_panel_whatever_was_recorded() -> None:
    assert reference_lines({"accuracy": {"chance": 0.5, "x": None}, "loss": {"ln 2": 0.69}, "other": 3}) == {
        "accuracy": {"chance": 0.5},
        "loss": {"ln 2": 0.69},
    }
    for nothing in (None, [], "text", {}):
        assert reference_lines(nothing) == {"accuracy": {}, "loss": {}}


def test_the_queue_overrules_only_a_worker_that_cannot_speak(runs_folder: Path) -> None:
    assert queue_word("nobody") is None
    run_id = queue.enqueue({"steps": 1}, owner="me")
    assert queue_word(run_id) == {"state": "queued", "reason": ""}
    for state, overrules in (("running", False), ("paused", False), ("stalled", True), ("failed", True)):
        with queue.catalogue_connection() as connection:
            connection.execute("UPDATE runs SET state = ?, reason = 'so' WHERE id = ?", (state, run_id))
        assert (queue_word(run_id) is not None) is overrules


def test_a_foreign_database_is_said_to_be_one_and_an_empty_one_is_waited_for(
    tmp_path: Path, feed_of: Made
) -> None:
    (tmp_path / "run").mkdir()
    with sqlite3.connect(tmp_path / "run" / "run.sqlite") as connection:
        feed = feed_of(tmp_path / "run")
        assert not feed.refresh() and feed.status["state"] == "queued"
        connection.execute("CREATE TABLE songs(title TEXT)")
    connection.close()
    assert [feed.refresh() for _ in range(3)] == [True, False, False]
    assert feed.status["state"] == "failed"
    assert "foreign SQLite file with the tables 'songs'" in feed.status["reason"]


@pytest.mark.parametrize("word", ["computes 'meta'", "the tables 'songs'"])
def test_a_foreign_database_whose_view_never_ends_hangs_nobody(
    tmp_path: Path, feed_of: Made, word: str
) -> None:
    (tmp_path / "run").mkdir()
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, 1, 2 FROM n"
    with sqlite3.connect(tmp_path / "run" / "run.sqlite") as connection:
        connection.execute(f"CREATE VIEW meta(key, value, more) AS {endless}")
        if "songs" in word:
            connection.execute("CREATE TABLE songs(title TEXT)")
    connection.close()
    feed = feed_of(tmp_path / "run")
    assert [feed.refresh() for _ in range(2)] == [True, False]
    assert feed.status["state"] == "failed"
    assert word in feed.status["reason"]
