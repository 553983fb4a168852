"""From the transport bar to a run that goes on from the shown step, with its parent's ghost behind it."""

import re

import pytest
from playwright.sync_api import expect

from sandbox.store import open_run, run_path
from tests.browser.conftest import Open
from tests.browser.serving import App
from tests.browser.watching import INK

pytestmark = pytest.mark.e2e

MARK = "(node) => { node.marked = 'the same'; }"


def test_a_shown_step_is_continued_with_another_learning_rate(
    app: App, open_page: Open, finished: str
) -> None:
    page = open_page(f"{app.address}/run?run={finished}")
    view = page.locator(".acs-live")
    onward = page.locator(".acs-onward")
    expect(onward).to_have_attribute("aria-disabled", "false")
    expect(page.locator(".acs-lineage")).to_be_hidden()
    view.evaluate(MARK)
    page.get_by_label("Go to step").fill("100")
    page.get_by_label("Go to step").press("Enter")
    expect(onward).to_have_text("Continue from step 100")
    onward.click()
    form = page.locator(".st-key-run-continuing")
    expect(form).to_contain_text("from step 100")
    assert view.evaluate("(node) => node.marked") == "the same"  # the form opens without a remount
    rate = form.get_by_label("Learning rate", exact=True).first
    rate.fill("0.05")
    rate.press("Tab")
    form.get_by_role("button", name="Start the new run").click()
    page.wait_for_url(lambda address: "run=" in address and finished not in address)
    found = re.search(r"run=([^&]+)", page.url)
    assert found is not None
    child = found[1]
    assert app.ended(child).state == "done"
    lineage = page.locator(".acs-lineage")
    expect(lineage).to_contain_text(f"goes on from step 100 of {finished}")
    expect(lineage).to_contain_text("optimizer.learning_rate 0.001 to 0.05")
    parted = page.locator(".acs-parted")
    expect(parted).to_have_text("first difference at step 102")
    expect(page.locator(".st-key-run-continuing")).to_have_count(0)
    canvas = page.locator('[data-kind="loss"] canvas')
    page.locator(".acs-live[data-step='160']").wait_for()
    page.wait_for_timeout(600)
    with_ghost = canvas.evaluate(INK)
    ghost = page.locator(".acs-ghost-chip")
    ghost.click()
    expect(ghost).to_have_attribute("aria-pressed", "false")
    page.wait_for_timeout(600)
    assert canvas.evaluate(INK) < 0.95 * with_ghost
    parted.click()
    expect(page.locator(".acs-time .acs-said")).to_contain_text("102")
    page.get_by_label("Go to step").fill("40")
    page.get_by_label("Go to step").press("Enter")
    expect(onward).to_have_attribute("aria-disabled", "true")
    assert f"continue {finished}" in (onward.get_attribute("title") or "")
    with open_run(run_path(child)) as run:
        assert {e.step for e in run.events() if e.kind == "divergence"} == {102}
        assert any(e.kind == "replay" for e in run.events())


def test_what_plays_as_a_recording_cannot_be_continued(app: App, open_page: Open) -> None:
    page = open_page(app.address)
    page.locator(".acs-live[data-step]").wait_for()
    expect(page.locator(".acs-onward")).to_be_hidden()
