"""Home: presets to open, runs to go back to."""

from pathlib import Path

from sandbox.runner import queue
from sandbox.ui import home, session
from sandbox.ui.complete import complete
from tests.live.synthetic import SyntheticRun
from tests.pages.conftest import Open, record, said, settled
from tests.ui import described


def test_home_shows_a_card_for_every_preset(open_page: Open) -> None:
    app = settled(open_page("home"))
    for name, preset in described.catalogue().presets.items():
        assert name in said(app)
        assert preset["sentence"] in said(app)
        assert app.button(key=f"home.open.{name}").label == "Open"


def test_open_brings_the_preset_into_the_sandbox(open_page: Open) -> None:
    app = open_page("home")
    app.button(key="home.open.fast listops").click()
    app = settled(app.run())
    assert app.selectbox(key="rail.preset").value == "fast listops"
    assert app.session_state[session._DRAFT]["task"]["kind"] == "listops"


def test_home_lists_the_runs_with_their_states(open_page: Open, runs_folder: Path) -> None:
    app = open_page("home")
    assert "None yet" in said(app)
    record(runs_folder, "quiet-test-run", "running")
    app = settled(app.run())
    assert "Running" in said(app)
    assert "step 100 of 100" in said(app)


def test_home_lists_runs_that_no_page_began(open_page: Open, runs_folder: Path) -> None:
    record(runs_folder, "quiet-test-run")
    typed = SyntheticRun(runs_folder / "typed-test-run", steps=100, evaluate_every=10, read_every=25)
    typed.grow(100, "done")
    typed.finish()
    app = settled(open_page("home"))
    for _ in range(2):  # a look reads at least one folder
        app = settled(app.run())
    assert {run.id for run in home.listed()} == {"quiet-test-run", "typed-test-run"}
    assert "Runs on this server" in said(app) and said(app).count("step 100 of 100") == 2


def test_home_lists_what_is_not_over_before_what_is(open_page: Open, runs_folder: Path) -> None:
    app = open_page("home")
    plain = complete(described.catalogue(), {"steps": 100})
    states = ("paused", "done", "running", "queued", "failed", "stopped")
    for created, state in enumerate(states):
        run_id = queue.enqueue(plain, "local", name=state)
        with queue.catalogue_connection() as connection:
            connection.execute(
                "UPDATE runs SET state = ?, created = ?, step = 25 WHERE id = ?", (state, created, run_id)
            )
    assert [run.state for run in home.listed()] == ["running", "paused", "queued"]
    app = settled(app.run())
    assert said(app).count("step 25 of 100") == 3
    with queue.catalogue_connection() as connection:
        connection.execute("UPDATE runs SET state = 'done' WHERE state IN ('queued', 'paused')")
    assert [run.state for run in home.listed()] == ["running", "stopped", "failed"]
