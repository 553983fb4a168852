"""Rewind restores everything bit for bit, new seeds are another act, the old curve stays (C20)."""

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from sandbox.store import open_run
from tests.browser.conftest import Open
from tests.browser.serving import App
from tests.browser.watching import INK

pytestmark = pytest.mark.e2e

LAST = 160


def child_of(app: App, page: Page, parent: str) -> str:
    """The run that the page went to, once it is done."""
    page.wait_for_url(lambda address: "run=" in address and parent not in address)
    found = re.search(r"run=([^&]+)", page.url)
    assert found is not None
    assert app.ended(found[1]).state == "done"
    return found[1]


def without_the_ghost(page: Page, kind: str) -> float:
    """The share of a panel's ink that stays when the ghost is put out; it is lit again."""
    canvas, ghost = page.locator(f'[data-kind="{kind}"] canvas'), page.locator(".acs-ghost-chip")
    canvas.scroll_into_view_if_needed()
    page.wait_for_timeout(800)
    lit = canvas.evaluate(INK)
    ghost.click()
    canvas.scroll_into_view_if_needed()  # the press scrolled to the chip: what is out of sight is not drawn
    page.wait_for_timeout(800)
    dark = canvas.evaluate(INK)
    ghost.click()
    return float(dark / lit)


def test_a_run_that_goes_on_unchanged_is_its_parent_to_the_last_bit(
    app: App, open_page: Open, finished: str
) -> None:
    page = open_page(f"{app.address}/run?run={finished}")
    expect(page.locator(".acs-onward")).to_have_attribute("aria-disabled", "false")
    with open_run(app.runs / finished) as run:  # a step of which the parent has the weights to compare with
        step = next(int(step) for step in run.weight_steps(run.arms[0]) if step >= 60)
    page.get_by_label("Go to step").fill(str(step))
    page.get_by_label("Go to step").press("Enter")
    page.locator(".acs-onward").click()
    page.locator(".st-key-run-continuing").get_by_role("button", name="Start the new run").click()
    child = child_of(app, page, finished)
    expect(page.locator(".acs-lineage")).to_contain_text("the same bits")
    expect(page.locator(".acs-parted")).to_be_hidden()
    with open_run(app.runs / finished) as before, open_run(app.runs / child) as after:
        assert "bit for bit" in next(e.detail for e in after.events() if e.kind == "replay")
        for arm in before.arms:
            np.testing.assert_array_equal(before.weights(LAST, arm), after.weights(LAST, arm))
            for name in ("loss", "test_loss", "test_accuracy"):
                steps, values = after.group_curve(name, arm)
                known, old = before.group_curve(name, arm)
                assert len(np.intersect1d(steps, known)) >= min(5, len(steps))
                np.testing.assert_array_equal(old[np.isin(known, steps)], values[np.isin(steps, known)])
    page.locator(f".acs-live[data-step='{LAST}']").wait_for()
    for kind in ("loss", "condition numbers"):  # a reading per head has its ghost, too
        assert without_the_ghost(page, kind) < 0.97, kind


def test_new_seeds_are_a_separate_act_that_begins_at_step_0(app: App, open_page: Open, finished: str) -> None:
    page = open_page(f"{app.address}/run?run={finished}")
    expect(page.locator(".acs-live .acs-state")).to_have_text("Done")  # nothing moves below it any more
    page.get_by_role("button", name="New seeds…").click()
    form = page.locator(".st-key-run-continuing")
    expect(form).to_contain_text("from step 0")
    expect(form.get_by_role("textbox", name="Seeds")).to_have_value("2, 3")
    form.get_by_role("button", name="Start the new run").click()
    child = child_of(app, page, finished)
    lineage = page.locator(".acs-lineage")
    expect(lineage).to_contain_text(f"starts anew beside {finished}")
    with open_run(app.runs / finished) as before, open_run(app.runs / child) as after:
        assert (before.seeds, after.seeds) == ((0, 1), (2, 3))
        arm = after.arms[0]
        assert after.weight_steps(arm)[0] == 0
        assert not np.array_equal(before.weights(0, arm), after.weights(0, arm))
        assert after.group_curve("parent/test_loss", arm)[0].size > 0
    page.locator(f".acs-live[data-step='{LAST}']").wait_for()
    assert without_the_ghost(page, "loss") < 0.97
