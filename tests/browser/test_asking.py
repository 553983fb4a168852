"""A finished run is asked from its pictures: the panel fills, another question is cancelled."""

import re

import pytest
from playwright.sync_api import expect

from sandbox.runner.questions import questions_of
from sandbox.store import open_run
from tests.browser.conftest import Open
from tests.browser.serving import App, eventually

pytestmark = pytest.mark.e2e

KIND = "jacobian certificates"
# As fast as nobody clicks: all but the first wait for their turn, and the last one is given up.
ASK_ALL = """(kinds) => {
  const rows = kinds.map((kind) => document.querySelector(`[data-kind="${kind}"] .acs-ask`));
  for (const row of rows) row.children[0].click();
  rows[rows.length - 1].querySelector('[aria-label^="Cancel"]').click();
}"""
READ = [KIND, "residual gains", "residual geometry", "layer norms"]
ASKED = ["residual gains", "multi-head bound", "layer norms"]


def test_a_finished_run_is_asked_and_answers_into_the_open_panel(
    app: App, finished: str, open_page: Open
) -> None:
    run = open_run(app.runs / finished)
    arm = run.arms[0]
    read = {step for kind in READ for step in run.reading_steps(kind, arm).tolist()}
    step = next(s for s in run.weight_steps(arm)[1:].tolist() if s not in read)
    page = open_page(f"{app.address}/run?run={finished}")
    page.locator('.acs-live[data-step="160"]').wait_for()
    page.get_by_label("Go to step").fill(str(step))
    page.get_by_label("Go to step").press("Enter")
    page.locator('[data-section="Conditioning"] .acs-unfold').click()
    panel = page.locator('[data-kind="certificates"]')
    panel.scroll_into_view_if_needed()
    ask = panel.get_by_role("button", name=f"Compute at step {step}", exact=True)
    ask.focus()
    ask.press("Enter")
    expect(panel.get_by_role("button", name=f"Computed at step {step}", exact=True)).to_be_visible()
    expect(panel.locator(".acs-foot")).to_contain_text(f"read at step {step}")
    expect(panel.locator('[role="status"]')).to_have_text(f"Computed at step {step}")
    expect(panel.locator("table")).to_contain_text(re.compile("holds|does not apply|violated"))
    assert step in run.reading_steps(KIND, arm)
    page.locator('[data-section="Geometry"] .acs-unfold').click()
    page.locator('[data-section="Geometry"] .acs-panel').first.scroll_into_view_if_needed()
    page.locator('[data-section="Geometry"] .acs-ask button').first.wait_for()
    page.evaluate(ASK_ALL, ASKED)
    words = page.locator(f'[data-kind="{ASKED[-1]}"] .acs-ask .acs-said')
    words.scroll_into_view_if_needed()
    expect(words).to_contain_text("cancelled")
    eventually(lambda: not any(question.open for question in questions_of(run)), 60, "the last answer")
    states = [question.state for question in questions_of(run)]
    assert states.count("cancelled") == 1 and set(states) == {"done", "cancelled"}
