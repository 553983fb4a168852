"""Live knobs on the page: what is asked reaches the run, within bounds, and only while it trains."""

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox.foundations.errors import InvalidKnob
from sandbox.runner import fork_plan
from sandbox.runner.live_requests import ANSWERED, request_change
from sandbox.store import Run, RunWriter, open_run
from sandbox.ui.live_knobs import knobs_of, present
from sandbox.ui.pending import as_it_stands
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


def test_what_is_asked_for_counts_until_it_is_answered(runs_folder: Path) -> None:
    path = runs_folder / record(runs_folder, "busy-test-run", "running")
    run = open_run(path)
    request_change(path, run.arms[0], "optimizer.learning_rate", 0.25)
    assert present(run, run.arms[0], "optimizer.learning_rate", 0.5) == 0.25
    plain = {"arms": [{"name": name} for name in run.arms], "optimizer": {"learning_rate": 0.5}}
    assert as_it_stands(plain, run)["optimizer"] == {"learning_rate": 0.5}  # one arm alone of several
    for arm in run.arms[1:]:
        request_change(path, arm, "optimizer.learning_rate", 0.25)
    assert as_it_stands(plain, run)["optimizer"] == {"learning_rate": 0.25}
    with RunWriter.resume(path, run.experiment) as writer:  # all of them refused
        writer.describe(**{ANSWERED: len(run.arms)})
    assert present(run, run.arms[0], "optimizer.learning_rate", 0.5) == 0.5
    assert as_it_stands(plain, run) == plain


def test_a_change_made_while_the_page_reads_the_run_is_seen(
    runs_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = runs_folder / record(runs_folder, "busy-test-run", "running")
    run = open_run(path)
    plain = {"arms": [{"name": name} for name in run.arms], "optimizer": {"learning_rate": 0.5}}
    made = [
        {"step": int(run.status["step"]) + 1, "arm": arm, "key": "optimizer.learning_rate", "value": 0.25}
        for arm in run.arms
    ]
    with RunWriter.resume(path, run.experiment) as writer:

        def none_left(asked_of: Run) -> list[dict[str, Any]]:
            writer.describe(changes=made)  # the trainer acts at this very moment
            writer.commit()
            return []

        monkeypatch.setattr(fork_plan, "unanswered", none_left)
        assert as_it_stands(plain, run)["optimizer"] == {"learning_rate": 0.25}


def test_a_finished_run_offers_no_change(open_page: Open, finished: str) -> None:
    app = settled(open_page("sandbox", run=finished))
    assert not [button for button in app.button if button.key == "sandbox.live_knobs.apply"]
