"""Live knobs on the page: what is asked reaches the run, within bounds, and only while it trains."""

import json
from pathlib import Path

import pytest

from sandbox.foundations.errors import InvalidKnob
from sandbox.store import open_run
from sandbox.ui.live_knobs import knobs_of, present
from tests.pages.conftest import Open, record, settled
from tests.ui import described

CATALOGUE = described.catalogue()
PLAIN = {
    "task": "sparse modular addition",
    "arms": [{"name": "standard"}, {"name": "s", "projection": {"kind": "spectral", "shift": 2.0}}],
}


def test_an_arm_offers_the_live_knobs_of_what_fills_its_slots() -> None:
    assert set(knobs_of(CATALOGUE, PLAIN, "standard")) == {"optimizer.learning_rate"}
    offered = knobs_of(CATALOGUE, PLAIN, "s")
    assert set(offered) == {"optimizer.learning_rate", "projection.shift"}
    knob, started = offered["projection.shift"]
    assert started == 2.0
    with pytest.raises(InvalidKnob):
        knob.check("s", 17.0)


def test_the_button_asks_the_run_of_the_page(open_page: Open, runs_folder: Path) -> None:
    record(runs_folder, "busy-test-run", "running")
    app = settled(open_page("sandbox", run="busy-test-run"))
    arm = open_run(runs_folder / "busy-test-run").arms[0]
    value = app.number_input(key=f"sandbox.live_knobs.value.{arm}.optimizer.learning_rate")
    app = settled(value.set_value(0.25).run())
    app = settled(app.button(key="sandbox.live_knobs.apply").click().run())
    asked = (runs_folder / "busy-test-run" / "changes.jsonl").read_text()
    assert json.loads(asked) == {"arm": arm, "key": "optimizer.learning_rate", "value": 0.25}


def test_the_present_value_is_that_of_the_last_change(runs_folder: Path) -> None:
    record(runs_folder, "busy-test-run", "running")
    run = open_run(runs_folder / "busy-test-run")
    assert present(run, run.arms[0], "optimizer.learning_rate", 0.5) == 0.5


def test_a_finished_run_offers_no_change(open_page: Open, finished: str) -> None:
    app = settled(open_page("sandbox", run=finished))
    assert not [button for button in app.button if button.key == "sandbox.live_knobs.apply"]
