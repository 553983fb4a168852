"""Where SANDBOX_STEER says so, others watch a run and its owner alone acts on it, whatever a page shows."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from sandbox.foundations.errors import RunUnavailable
from sandbox.runner import queue
from sandbox.store import open_run, run_path
from sandbox.store.labels import Labels, read_labels
from sandbox.store.study import Study
from sandbox.ui import gallery_card, live_knobs, run_view, session, sweep_page, training
from tests.pages.conftest import Open, record, said, settled
from tests.ui import described

RATE = "optimizer.learning_rate"


@pytest.fixture(autouse=True)
def of_ann(runs_folder: Path, finished: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A stopped run of ann's, on a server where owners steer."""
    with queue.catalogue_connection() as connection:
        connection.execute("UPDATE runs SET owner = 'ann', state = 'stopped'")
    monkeypatch.setenv("SANDBOX_STEER", "owner")
    return finished


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the page was given to say, outside any page."""
    found: list[str] = []
    monkeypatch.setattr(session, "notice", lambda sentence, kind="error": found.append(sentence))
    monkeypatch.setattr(session, "owner", lambda: "bob")
    return found


def steered(open_page: Open, monkeypatch: pytest.MonkeyPatch, run_id: str, by: str) -> tuple[AppTest, bool]:
    """The run's page for somebody, and whether its live view may steer."""
    seen: list[bool] = []
    monkeypatch.setattr(run_view, "live_view", lambda run_id, **how: seen.append(how["steer"]))
    monkeypatch.setattr(session, "owner", lambda: by)
    app = settled(open_page("run", run=run_id))
    return app, seen[-1]


def test_others_watch_and_the_owner_steers(
    open_page: Open, monkeypatch: pytest.MonkeyPatch, of_ann: str
) -> None:
    app, steers = steered(open_page, monkeypatch, of_ann, "bob")
    assert not steers and "This is ann's" in said(app)
    assert app.button(key="run.requeue").disabled
    app, steers = steered(open_page, monkeypatch, of_ann, "ann")
    assert steers and "This is ann's" not in said(app)
    app.button(key="run.requeue").click()
    settled(app.run())
    found = queue.state(of_ann)
    assert found is not None and found.state == "queued"


def test_by_default_everybody_steers(open_page: Open, monkeypatch: pytest.MonkeyPatch, of_ann: str) -> None:
    monkeypatch.delenv("SANDBOX_STEER")
    app, steers = steered(open_page, monkeypatch, of_ann, "bob")
    assert steers and not app.button(key="run.requeue").disabled


def refusing(told: list[str], act: Callable[..., Any], *arguments: Any) -> None:
    """Do what a button does, whatever the page shows, and see that it was refused in words."""
    told.clear()
    act(*arguments)
    assert len(told) == 1 and told[0].startswith("This is ann's")


def test_whatever_the_page_shows_no_act_of_another_reaches_the_run(
    told: list[str], of_ann: str, runs_folder: Path
) -> None:
    record(runs_folder, "busy-test-run", "running")
    with queue.catalogue_connection() as connection:
        connection.execute("UPDATE runs SET owner = 'ann'")
    with open_run(runs_folder / "busy-test-run") as run:
        refusing(told, training._apply, run, [(run.arms[0], RATE, 0.1)])
        knob = live_knobs.knobs_of(described.catalogue(), run.experiment, run.arms[0])[RATE][0]
        refusing(told, live_knobs._ask, run, run.arms[0], RATE, knob, 0.1)
    assert not (runs_folder / "busy-test-run" / "changes.jsonl").exists()
    for wish in (queue.requeue, queue.stop):
        refusing(told, run_view._ask, wish, of_ann)
    refusing(told, gallery_card._ask, of_ann, lambda: pytest.fail("it was pinned"))
    with pytest.raises(RunUnavailable, match="This is ann's"):
        gallery_card._label(of_ann, Labels(name="mine now"))
    found = queue.state(of_ann)
    assert found is not None and found.state == "stopped"
    assert read_labels(run_path(of_ann)) == Labels()


def test_a_study_of_another_is_neither_cancelled_nor_resumed(told: list[str]) -> None:
    foreign = Study(id="s", name="s", owner="ann", device="cpu", created=0.0, keys=(), points=())
    refusing(told, sweep_page._ask, lambda study: pytest.fail("it was cancelled"), foreign)
