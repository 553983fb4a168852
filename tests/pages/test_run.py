"""The page of one run: its table, its downloads, its figures."""

import csv
import io
import json
import time
import tomllib
import zipfile
from pathlib import Path

import pytest

from sandbox.experiment.experiment import from_plain_experiment
from sandbox.runner import queue, trash
from sandbox.store import open_run, run_path
from sandbox.store.writing_lock import take_lock
from sandbox.ui import downloads, links, run_view, study_tabs, view_link
from sandbox.ui.complete import complete
from sandbox.ui.run_state import state_of
from tests.pages.conftest import Open, said, settled
from tests.ui import described


def test_the_page_names_the_run_and_what_it_trains(open_page: Open, finished: str) -> None:
    app = settled(open_page("run", run=finished))
    assert "quiet-test" in said(app)
    assert "4 arms, 3 seeds, 100 steps" in said(app)


def test_without_a_run_the_page_lists_what_is_here(open_page: Open, finished: str) -> None:
    app = settled(open_page("run"))
    assert app.title[0].value == "Runs"


def test_the_table_counts_the_seed_that_diverged(open_page: Open, finished: str) -> None:
    app = settled(open_page("run", run=finished))
    (table,) = [m.value for m in app.markdown if m.value.startswith("| Arm")]
    standard = next(row for row in table.splitlines() if row.startswith("| `standard`"))
    assert standard.rstrip(" |").endswith("1")
    assert table.count("\n") == 5


def test_a_finished_run_offers_every_figure(open_page: Open, finished: str) -> None:
    open_page("home")
    with open_run(run_path(finished)) as run:
        names = study_tabs.available(run)
        kinds = run.reading_kinds("standard")
    assert names[:2] == ["Loss", "Accuracy"]
    assert len(names) == 2 + len(kinds) > 6


def test_opening_the_study_draws_its_first_figure(open_page: Open, finished: str) -> None:
    app = open_page("run", run=finished)
    assert not app.get("plotly_chart")
    app.session_state["run.study"] = True
    app = settled(app.run())
    assert len(app.get("plotly_chart")) == 1


def test_settings_come_down_as_toml_and_json_that_train_again(finished: str) -> None:
    with open_run(run_path(finished)) as run:
        plain = run.experiment
        assert tomllib.loads(downloads.toml(plain)) == json.loads(downloads.as_json(plain)) == plain
    assert from_plain_experiment(plain).steps == 100


def test_the_archive_holds_every_number_unthinned(finished: str) -> None:
    with open_run(run_path(finished)) as run, zipfile.ZipFile(io.BytesIO(downloads.archive(run))) as files:
        rows = list(csv.DictReader(io.StringIO(files.read("scalars.csv").decode())))
        assert len([r for r in rows if r["name"] == "loss"]) == 101 * 4 * 3
        assert "nan" in {r["value"] for r in rows}
        assert any(name.startswith("reading-theta") for name in files.namelist())


@pytest.mark.parametrize("state", ["running", "paused", "done"])
def test_the_queues_word_wins_over_the_folders(open_page: Open, finished: str, state: str) -> None:
    with queue.catalogue_connection() as connection:
        connection.execute("UPDATE runs SET state = ?", (state,))
    with open_run(run_path(finished)) as run:
        assert state_of(finished, run).state == state


def test_one_tick_is_a_plain_function_and_draws_no_chart(open_page: Open, finished: str) -> None:
    app = settled(open_page("run", run=finished))
    assert callable(run_view._tick)
    assert not app.get("plotly_chart")


def test_a_waiting_run_says_so_and_can_leave_the_queue(open_page: Open, runs_folder: Path) -> None:
    run_id = queue.enqueue({"schema": 1, "steps": 9}, "local")
    app = settled(open_page("run", run=run_id))
    assert "0 runs before it" in said(app)
    app.button(key="run.leave").click()
    settled(app.run())
    found = queue.state(run_id)
    assert found is not None
    assert found.state == "stopped"


def test_a_stopped_run_can_be_continued(open_page: Open, finished: str) -> None:
    with queue.catalogue_connection() as connection:
        connection.execute("UPDATE runs SET state = 'stopped'")
    app = settled(open_page("run", run=finished))
    app.button(key="run.requeue").click()
    settled(app.run())
    found = queue.state(finished)
    assert found is not None
    assert found.state == "queued"


@pytest.mark.parametrize("page", ["run", "sandbox"])
@pytest.mark.parametrize("known", [True, False], ids=["queued", "copied"])
@pytest.mark.parametrize("file", ["run.sqlite", "experiment.json"])
def test_a_damaged_run_is_told_in_its_own_sentence(
    open_page: Open, finished: str, page: str, known: bool, file: str
) -> None:
    (run_path(finished) / file).write_bytes(b"not what it was" * 100)
    if not known:
        with queue.catalogue_connection() as connection:
            connection.execute("DELETE FROM runs")
    app = settled(open_page(page, run=finished))
    (error,) = app.error
    assert file in error.value.replace("\\", "")
    assert "no such run" not in said(app)


@pytest.mark.parametrize("page", ["run", "sandbox"])
def test_a_run_that_is_damaged_while_it_is_watched_is_told_in_a_sentence(
    open_page: Open, finished: str, page: str
) -> None:
    app = settled(open_page(page, run=finished))
    (run_path(finished) / "run.sqlite").write_bytes(b"not what it was" * 100)
    app = settled(app.run())
    assert "run.sqlite" in said(app)
    assert len(app.error) == 1


@pytest.mark.parametrize("state", ["queued", "running", "paused", "stalled"])
def test_a_damaged_run_that_the_queue_still_lists_is_not_waited_for(
    open_page: Open, finished: str, state: str
) -> None:
    (run_path(finished) / "run.sqlite").write_bytes(b"not what it was" * 100)
    with queue.catalogue_connection() as connection:
        connection.execute("UPDATE runs SET state = ?", (state,))
    app = settled(open_page("run", run=finished))
    (error,) = app.error
    assert "run.sqlite" in error.value.replace("\\", "")
    assert "before it" not in said(app) and "appears with the first step" not in said(app)


def test_a_run_in_the_making_is_no_damaged_one(open_page: Open, finished: str) -> None:
    (run_path(finished) / "run.sqlite").unlink()
    with queue.catalogue_connection() as connection:
        connection.execute("UPDATE runs SET state = 'running'")
    with take_lock(run_path(finished)):
        app = settled(open_page("run", run=finished))
    assert not app.error and "appears with the first step" in said(app)


def test_a_run_that_cannot_be_continued_says_why(open_page: Open, finished: str) -> None:
    with queue.catalogue_connection() as connection:
        connection.execute("UPDATE runs SET state = 'stopped'")
    (run_path(finished) / "control").unlink()
    app = settled(open_page("run", run=finished))
    app.button(key="run.requeue").click()
    app = settled(app.run())
    (error,) = app.error
    assert "control" in error.value


@pytest.mark.parametrize("carried", [True, False], ids=["with its settings", "alone"])
def test_a_link_to_a_run_that_is_gone_says_so_and_offers_what_it_carries(
    open_page: Open, finished: str, carried: bool
) -> None:
    with open_run(run_path(finished)) as run:
        plain = complete(described.catalogue(), run.experiment)
    trash.delete(finished, "local")
    trash.purge(now=time.time() + 2 * trash.DAY)
    app = settled(open_page("run", run=finished, **({"setup": links.encode(plain)} if carried else {})))
    assert f"There is no run `{finished}` here (any more)." in said(app)
    assert [button.key for button in app.button] == [f"gone.settings.{finished}"] * carried
    if carried:
        app.button(key=f"gone.settings.{finished}").click()
        app = settled(app.run())
        assert app.session_state["session.draft"] == plain
    else:
        assert "carries no settings" in said(app)


def test_a_deleted_run_can_be_put_back_from_its_link(open_page: Open, finished: str) -> None:
    trash.delete(finished, "local")
    app = settled(open_page("run", run=finished))
    app.button(key=f"gone.restore.{finished}").click()
    app = settled(app.run())
    assert "quiet-test" in said(app)


def test_a_view_in_the_link_is_clamped_and_told_once(open_page: Open, finished: str) -> None:
    app = settled(open_page("run", run=finished, view=view_link.encode(view_link.RunView(arm=9, step=20))))
    (warning,) = app.warning
    assert "arm 9 is not in this run; 3 is taken" in warning.value.replace("\\", "")
    assert not settled(app.run()).warning
