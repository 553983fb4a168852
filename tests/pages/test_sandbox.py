"""Sandbox: the rail grows from the catalogue, Train asks the trainer, links bring settings back."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from sandbox.experiment.describe import check
from sandbox.runner import queue
from sandbox.runner.catalogue_file import write_catalogue
from sandbox.ui import session
from sandbox.ui.complete import complete
from sandbox.ui.links import PARAMETER, encode
from sandbox.ui.settings import Plain
from tests.pages.conftest import Open, record, said, settled
from tests.ui import described

CATALOGUE = described.catalogue()
SILENT = "The trainer did not answer within 1 s; it may be busy."


def draft(app: AppTest) -> Plain:
    plain: Plain = app.session_state[session._DRAFT]
    return plain


def names(app: AppTest) -> list[str]:
    return [arm["name"] for arm in draft(app)["arms"]]


def test_every_knob_of_what_is_chosen_has_a_widget_with_its_bounds(open_page: Open) -> None:
    app = settled(open_page("sandbox"))
    plain = draft(app)
    for part, family in (("task", "task"), ("model", "architecture"), ("optimizer", "optimizer")):
        entry = CATALOGUE.variant(family, plain[part]["kind"])
        for name, knob in entry.knobs.items():
            key = f"{family}.{entry.kind}.{name}"
            if not isinstance(knob.default, bool | str):
                widget = app.number_input(key=key)
                assert (widget.label, widget.value) == (knob.spec.label, plain[part][name])
                assert (widget.min, widget.max) == (knob.spec.low, knob.spec.high)


def test_a_variant_and_a_knob_that_nobody_has_heard_of_get_their_widgets(
    open_page: Open, runs_folder: Path
) -> None:
    data = json.loads(described.text())
    spectral = data["families"]["projection"]["spectral"]
    shift = spectral["knobs"]["shift"]
    new = spectral | {
        "title": "Brand new idea",
        "knobs": {"zeal": shift | {"label": "Zeal", "expert": False}},
    }
    data["families"]["projection"]["brand-new"] = new
    data["arm_kinds"]["brand-new"] = "projection"
    open_page("home")
    write_catalogue(runs_folder, json.dumps(data))
    from sandbox.ui import choices

    choices._read.cache_clear()
    app = settled(open_page_again(open_page, runs_folder, data))
    app.checkbox(key="arm.projection.brand-new").check()
    app = settled(app.run())
    assert app.checkbox(key="arm.projection.brand-new").label == "Brand new idea"
    app.number_input(key="arm.projection.brand-new.zeal").set_value(2.0)
    app = settled(app.run())
    assert names(app)[-1] == "brand-new:zeal=2"


def open_page_again(open_page: Open, runs: Path, data: dict[str, Any]) -> AppTest:
    app = open_page("sandbox")
    write_catalogue(runs, json.dumps(data))
    return app.run()


def test_an_arm_is_named_after_its_knobs(open_page: Open) -> None:
    app = open_page("sandbox")
    app.number_input(key="arm.projection.spectral.shift").set_value(2.0)
    app = settled(app.run())
    assert "spectral:shift=2" in names(app)
    app.button(key="arm.projection.spectral.shift.mark.0").click()
    app = settled(app.run())
    assert "spectral:shift=10" in names(app)


def test_an_arm_that_comes_back_has_its_knobs_again(open_page: Open) -> None:
    app = open_page("sandbox")
    app.number_input(key="arm.projection.spectral.shift").set_value(2.0)
    app.run()
    app.checkbox(key="arm.projection.spectral").uncheck()
    app.run()
    assert not any("spectral" in name for name in names(app))
    app.checkbox(key="arm.projection.spectral").check()
    app = settled(app.run())
    assert names(app)[-1] == "spectral:shift=2"


def test_a_combination_is_typed_as_a_spec(open_page: Open) -> None:
    app = open_page("sandbox")
    app.text_area(key="arm.combinations").set_value("spectral:shift=1+preconditioned")
    app = settled(app.run())
    assert names(app)[-1] == "spectral:shift=1+preconditioned"


def test_a_spec_that_means_nothing_is_refused_and_changes_nothing(open_page: Open) -> None:
    app = open_page("sandbox")
    before = draft(app)
    app.text_area(key="arm.combinations").set_value("<b>spektral</b>")
    app = settled(app.run())
    assert "no arm kind" in said(app)
    assert draft(app) == before
    assert app.text_area(key="arm.combinations").value == ""


def test_what_will_be_seen_goes_by_the_model_and_the_task(open_page: Open) -> None:
    app = settled(open_page("sandbox"))
    assert "Clustering" in said(app) and "Receptors" not in said(app) and "Expression" not in said(app)
    app.selectbox(key="architecture.kind").select("visual model")
    assert "Receptors" in said(settled(app.run()))


def test_toggles_that_do_nothing_in_the_visual_model_say_why(open_page: Open) -> None:
    app = open_page("sandbox")
    app.selectbox(key="rail.preset").set_value("paper default")
    app = settled(app.run())
    ticks = [box for box in app.checkbox if box.key and box.key.startswith("arm.projection")]
    assert ticks
    assert all(box.disabled and not box.value for box in ticks)
    assert "one learned query and no key matrix" in said(app)


def test_the_unsaturated_mark_follows_the_width_of_a_head(open_page: Open) -> None:
    app = open_page("sandbox")
    assert app.button(key="arm.projection.spectral.shift.mark.1").label == "unsaturated up to 0.707"
    app.number_input(key="architecture.encoder.n_heads").set_value(1)
    app = settled(app.run())
    assert app.button(key="arm.projection.spectral.shift.mark.1").label == "unsaturated up to 0.594"


def test_the_level_opens_drawers_and_hides_nothing(open_page: Open) -> None:
    app = open_page("sandbox")
    before = {widget.key for widget in app.number_input}
    app.segmented_control(key="rail.level").set_value("Researcher")
    app = settled(app.run())
    assert before <= {widget.key for widget in app.number_input}


def test_a_device_that_is_not_there_says_why_in_a_sentence(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    none = replace(CATALOGUE.devices["cuda"], available=False, sentence="none: no usable GPU")
    monkeypatch.setitem(CATALOGUE.devices, "cuda", none)
    monkeypatch.setattr("sandbox.ui.choices.catalogue", lambda: CATALOGUE)
    app = settled(open_page("sandbox"))
    device = app.selectbox(key="run.device")
    assert (device.options, device.disabled) == (["CPU"], True)
    assert "CUDA: no usable GPU." in said(app).splitlines()


def test_train_puts_the_settings_into_the_queue_and_the_run_into_the_address(open_page: Open) -> None:
    app = open_page("sandbox")
    app.number_input(key="run.steps").set_value(77)
    app.run()
    app.button(key="sandbox.train").click()
    app = settled(app.run())
    (run,) = queue.states()
    assert app.query_params["run"] == run.id
    with queue.catalogue_connection() as connection:
        (text,) = connection.execute("SELECT plain FROM runs").fetchone()
    assert json.loads(text) == draft(app) | {"steps": 77}
    assert app.button(key="sandbox.train").label == "Train again"


def test_settings_that_contradict_each_other_get_the_trainers_sentence(open_page: Open) -> None:
    app = open_page("sandbox")
    assert not app.button(key="sandbox.train").disabled
    app.number_input(key="architecture.encoder.n_heads").set_value(3)
    app = settled(app.run())
    assert app.button(key="sandbox.train").disabled
    (error,) = app.error
    assert "cannot be split over 3 heads" in error.value
    assert said(app).count("cannot be split") == 1 and len(app.toast) == 0
    app.number_input(key="architecture.encoder.n_heads").set_value(2)
    app = settled(app.run())
    assert not app.button(key="sandbox.train").disabled and len(app.error) == 0


def test_a_refusal_that_comes_with_the_click_is_said_once_at_the_button(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(plain: Plain, timeout: float = 10.0) -> dict[str, Any]:
        return json.loads(json.dumps(check(plain))) if timeout > 5 else {"ok": False, "error": SILENT}

    monkeypatch.setattr(queue, "check", busy)
    app = open_page("sandbox")
    app.number_input(key="architecture.encoder.n_heads").set_value(3)
    app = settled(app.run())
    assert not app.button(key="sandbox.train").disabled and len(app.error) == 0
    app.button(key="sandbox.train").click()
    app = settled(app.run())
    assert app.button(key="sandbox.train").disabled
    assert said(app).count("cannot be split over 3 heads") == 1 and len(app.toast) == 0
    assert queue.states() == []
    assert "run" not in app.query_params


def test_one_arm_is_compared_with_nothing(open_page: Open) -> None:
    several, alone = "side by side", ("compared with it", "What is compared", "same data in the same order")
    app = settled(open_page("sandbox"))
    assert all(words in said(app) for words in alone)
    assert several in rail_arms(app)
    for box in [box for box in app.checkbox if box.value and box.key != "arm.standard"]:
        if str(box.key).startswith("arm."):
            app.checkbox(key=box.key).uncheck()
            app.run()
    assert names(settled(app)) == ["standard"]
    assert not any(words in said(app) for words in alone)
    assert rail_arms(app) == "**Arms** · 1"


def rail_arms(app: AppTest) -> str:
    return next(one.label for one in app.expander if one.label.startswith("**Arms**"))


def test_size_and_cost_are_told_on_demand(open_page: Open) -> None:
    from sandbox.ui.training import cost_sentences

    open_page("sandbox")
    sentences = cost_sentences(queue.check(complete(CATALOGUE, {})))
    assert sentences[0].startswith("`standard` ")
    assert " parameters, " in sentences[0] and sentences[0].endswith(" of memory a seed")
    assert "of memory" in sentences[-1]


def test_edits_while_a_run_is_on_are_listed(open_page: Open, finished: str) -> None:
    app = settled(open_page("sandbox", run=finished))
    assert draft(app)["steps"] == 100
    app.number_input(key="run.steps").set_value(200)
    app.run()
    app.number_input(key="run.batch_size").set_value(64)
    app = settled(app.run())
    assert app.button(key="sandbox.train").label == "2 changes: Start new"
    assert "Steps: 100 to 200" in said(app)


def test_a_link_fills_the_rail_and_leaves_the_address(open_page: Open) -> None:
    plain = complete(CATALOGUE, {"task": "listops", "steps": 33, "seeds": [4, 5]})
    app = settled(open_page("sandbox", **{PARAMETER: encode(plain)}))
    assert draft(app) == plain
    assert PARAMETER not in app.query_params
    assert "Nothing has been started" in said(app)


@pytest.mark.parametrize("value", ["", "1.", "1.<script>", "9.abcd", "x" * 30_000])
def test_a_broken_link_is_told_and_changes_nothing(open_page: Open, value: str) -> None:
    app = open_page("sandbox")
    before = draft(app)
    app.query_params[PARAMETER] = value
    app = settled(app.run())
    assert len(app.error) == 1
    assert "nothing was changed" in said(app)
    assert draft(app) == before


def test_a_running_run_shows_its_table_and_says_when_figures_come(open_page: Open, runs_folder: Path) -> None:
    record(runs_folder, "busy-test-run", "running")
    app = settled(open_page("sandbox", run="busy-test-run"))
    assert "Against `standard`" in said(app)
    assert "Pause or end the run" in said(app)


@pytest.mark.parametrize("run_id", ["../../etc", "no-such-run", "<b>", "a" * 200])
def test_an_address_of_no_run_gets_a_sentence(open_page: Open, run_id: str) -> None:
    app = settled(open_page("sandbox", run=run_id))
    assert len(app.error) == 1


def test_an_address_with_an_unknown_part_is_told_and_changes_nothing(open_page: Open) -> None:
    app = open_page("sandbox", colour="abc")
    assert "The address has no part 'colour'" in said(app)
    assert draft(app) == draft(settled(open_page("sandbox")))
