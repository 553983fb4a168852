"""Continuing a run on its page: the form, what it asks of the queue, and what it says where it cannot be."""

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import sandbox
from sandbox.foundations.errors import InvalidKnob
from sandbox.runner import queue
from sandbox.runner.control import RunControl
from sandbox.runner.outlook import outlook
from sandbox.store import open_run, run_path
from sandbox.ui import continuing
from sandbox.ui.continuing import read_seeds
from tests.pages.conftest import Open, said, settled
from tests.runner.small import tiny_experiment

pytestmark = pytest.mark.slow

SPECTRAL = "spectral:shift=0.5"


@pytest.fixture
def trained(runs_folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A small run that really trained 12 steps."""
    monkeypatch.setattr(continuing, "ensure_supervisor", lambda: True)
    sandbox.train(tiny_experiment(steps=12), runs_folder / "old-parent")
    RunControl(runs_folder / "old-parent", create=True).close()
    return "old-parent"


def address(app: AppTest) -> str:
    found = app.query_params["run"]
    return found if isinstance(found, str) else found[0]


def child(app: AppTest) -> tuple[str, dict[str, Any]]:
    run_id = address(app)
    with queue.catalogue_connection() as connection:
        (plain,) = connection.execute("SELECT plain FROM runs WHERE id = ?", (run_id,)).fetchone()
    return run_id, json.loads(plain)


def test_a_run_is_continued_with_other_knobs(open_page: Open, trained: str) -> None:
    app = settled(open_page("run", run=trained))
    assert not app.get("form")
    app = settled(app.button(key="run.ask.fork").click().run())
    assert "Continue" in said(app) and "optimizer moments" in said(app)
    place = "run.fork.12"
    app.number_input(key=f"{place}.step").set_value(7)
    app.number_input(key=f"{place}.steps").set_value(20)
    app.number_input(key=f"{place}.all.optimizer.learning_rate").set_value(0.02)
    app.number_input(key=f"{place}.{SPECTRAL}.projection.shift").set_value(2.0)
    app.multiselect(key=f"{place}.seeds").set_value([11])
    app = settled(app.button(key="run.continuing.start").click().run())
    run_id, plain = child(app)
    assert run_id != trained and plain["seeds"] == [11] and plain["steps"] == 20
    assert plain["optimizer"]["learning_rate"] == 0.02
    fork = plain["fork"]
    assert (fork["run"], fork["step"]) == (trained, 7)
    assert fork["values"] == [{"step": 7, "arm": "spectral:shift=2", "key": "projection.shift", "value": 2.0}]
    assert plain["arms"][1]["name"] == "spectral:shift=2" and fork["values"][0]["arm"] == "spectral:shift=2"
    assert open_run(run_path(run_id)).meta("parent")["run"] == trained
    assert not app.get("form")


def test_a_fork_waits_under_its_owners_name_with_what_it_costs(open_page: Open, trained: str) -> None:
    app = settled(open_page("run", run=trained))
    app.session_state["session.owner"] = "ann"
    app = settled(app.button(key="run.ask.fork").click().run())
    app = settled(app.button(key="run.continuing.start").click().run())
    (waiting,) = queue.states()
    assert (waiting.owner, waiting.step) == ("ann", 12)
    with queue.catalogue_connection() as connection:
        (flops,) = connection.execute("SELECT flops FROM runs").fetchone()
    assert flops > 1e5
    found = outlook(waiting.id)
    steps = open_run(run_path(waiting.id)).experiment["steps"]
    assert found is not None and found.seconds < 5 * (steps - 12), "its parent's steps count for nothing"


@pytest.mark.parametrize("what", ["fork", "seeds"])
def test_the_form_opens_under_the_button_that_asks_for_it(open_page: Open, trained: str, what: str) -> None:
    app = settled(open_page("run", run=trained))
    app = settled(app.button(key=f"run.ask.{what}").click().run())
    drawn = list(app.main)
    button = next(n for n, one in enumerate(drawn) if getattr(one, "key", None) == f"run.ask.{what}")
    form = next(n for n, one in enumerate(drawn) if one.type == "form")
    picture = max(n for n, one in enumerate(drawn) if one.type == "bidi_component")
    assert picture < button < form


def test_a_form_that_the_live_view_asks_for_opens_at_its_side_of_the_page(
    open_page: Open, trained: str
) -> None:
    app = settled(open_page("run", run=trained))
    app.session_state["session.held"] = {"run.continuing": (trained, "fork", 7, continuing.ABOVE)}
    drawn = list(settled(app.run()).main)
    kinds = [one.type for one in drawn]
    picture = max(n for n, kind in enumerate(kinds) if kind == "bidi_component")
    assert kinds.count("form") == 1 and kinds.index("form") < picture


@pytest.mark.parametrize("what", ["fork", "fork with a rate of an arm's own", "seeds"])
def test_the_rail_follows_the_run_that_was_made_beside_it(open_page: Open, trained: str, what: str) -> None:
    what, _, own = what.partition(" ")
    app = settled(open_page("sandbox", run=trained))
    app = settled(app.button(key=f"sandbox.ask.{what}").click().run())
    place = "sandbox.seeds" if what == "seeds" else "sandbox.fork.12"
    app.number_input(key=f"{place}.steps").set_value(20)
    if what == "fork":
        app.number_input(key=f"{place}.all.optimizer.learning_rate").set_value(0.02)
        app.number_input(key=f"{place}.{SPECTRAL}.projection.shift").set_value(2.0)
    if own:
        app.number_input(key=f"{place}.{SPECTRAL}.optimizer.learning_rate").set_value(0.3)
    app = settled(app.button(key="sandbox.continuing.start").click().run())
    assert address(app) != trained
    assert app.number_input(key="run.steps").value == 20
    assert app.button(key="sandbox.train").label == "Train again"


def test_new_seeds_start_the_experiment_again(open_page: Open, trained: str) -> None:
    app = settled(open_page("run", run=trained))
    app = settled(app.button(key="run.ask.seeds").click().run())
    assert app.text_input(key="run.seeds.list").value == "12, 13"
    app = settled(app.button(key="run.continuing.start").click().run())
    _, plain = child(app)
    assert plain["seeds"] == [12, 13]
    assert plain["fork"] == {"run": trained, "step": 0, "stages": [], "values": []}


def test_what_cannot_be_is_told_and_starts_nothing(open_page: Open, trained: str) -> None:
    app = settled(open_page("run", run=trained))
    app = settled(app.button(key="run.ask.fork").click().run())
    app.number_input(key="run.fork.12.steps").set_value(12)
    app = settled(app.button(key="run.continuing.start").click().run())
    (error, *_) = app.error
    assert "higher limit" in error.value
    assert address(app) == trained and app.get("form") and queue.states() == []
    app = settled(app.button(key="run.continuing.close").click().run())
    assert not app.get("form")


def test_a_waiting_fork_has_a_page(open_page: Open, trained: str) -> None:
    app = settled(open_page("run", run=trained))
    app = settled(app.button(key="run.ask.fork").click().run())
    app = settled(app.button(key="run.continuing.start").click().run())
    settled(app.run())
    assert "before it" in said(app)


def test_seeds_are_read_as_they_are_typed() -> None:
    assert read_seeds("3, 4,5") == [3, 4, 5]
    for text in ("", "a", "1.5", "-1", "9" * 12):
        with pytest.raises(InvalidKnob):
            read_seeds(text)
