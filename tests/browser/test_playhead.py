"""The playhead moves every picture of every arm, and what a person holds on to outlives training (C16)."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.serving import App
from tests.browser.watching import Watched
from tests.live.upkeep import seen, watch

pytestmark = pytest.mark.e2e

UNFOLD = "document.querySelectorAll('.acs-unfold[aria-expanded=false]').forEach((button) => button.click())"
STEP = re.compile(r"step (\d+)")


TOLD = """() => [...document.querySelectorAll('.acs-panel[data-kind]')]
  .filter((panel) => !panel.querySelector('.acs-silence').checkVisibility())
  .map((panel) => [
    panel.dataset.kind,
    `${panel.querySelector('table').innerText} ${panel.querySelector('.acs-foot').innerText}`,
  ])"""
TALL = 9000  # pixels of a window in which every panel is seen, and so drawn


def told(page: Page) -> dict[str, list[int]]:
    """The steps that each panel's text alternative and foot speak of."""
    return {kind: [int(step) for step in STEP.findall(words)] for kind, words in page.evaluate(TOLD)}


def go(page: Page, step: int) -> None:
    """Move the playhead to a step."""
    page.get_by_label("Go to step").fill(str(step))
    page.get_by_label("Go to step").press("Enter")
    expect(page.locator(".acs-viewing")).not_to_have_text("viewing step 160")
    page.wait_for_timeout(3500)  # texts follow a picture within three seconds


def test_every_panel_and_both_arms_show_the_step_of_the_playhead(
    app: App, finished: str, open_page: Open
) -> None:
    page = open_page(f"{app.address}/run?run={finished}", viewport={"width": 1440, "height": TALL})
    page.wait_for_selector('.acs-live[data-step="160"]')
    page.evaluate(UNFOLD)
    page.wait_for_timeout(3500)
    late = told(page)
    go(page, 0)
    first = {kind: {*steps} for kind, steps in told(page).items()}  # what was read later for the first time
    go(page, 60)
    early = told(page)
    assert len(early) >= 10
    for kind, steps in early.items():
        assert all(step <= 60 or step in first[kind] for step in steps), (kind, steps)
    moved = [kind for kind, steps in late.items() if steps and max(steps) > 60]
    assert {"loss", "accuracy", "attention entropy", "condition numbers", "attention map"} <= {*moved}
    for name in ("standard", "spectral:shift=0.5"):
        page.locator(".acs-arm", has_text=name).first.click()
        page.wait_for_timeout(3500)
        for kind, steps in told(page).items():
            assert all(step <= 60 or step in first[kind] for step in steps), (name, kind, steps)
    rows = page.locator('[data-kind="loss"] table').inner_text()
    assert "standard" in rows and "spectral:shift=0.5" in rows


def test_nodes_zoom_selection_and_playhead_outlive_the_updates_of_a_real_run(
    app: App, training: Watched
) -> None:
    page = training.page
    training.beyond(60)
    page.get_by_role("radio", name="spectral:shift=0.5").first.click()
    loss = page.locator('[data-kind="loss"] canvas')
    loss.scroll_into_view_if_needed()
    box: Any = loss.bounding_box()
    page.mouse.move(box["x"] + 80, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 180, box["y"] + 60, steps=4)
    page.mouse.up()
    expect(page.get_by_role("button", name="Reset zoom")).to_be_visible()
    go(page, 40)
    viewing = page.locator(".acs-viewing").inner_text()
    watch(page)
    training.beyond(training.step() + 60)
    found = seen(page)
    assert found["were"] == found["are"] > 60
    expect(page.locator(".acs-viewing")).to_have_text(viewing)
    expect(page.get_by_role("button", name="Reset zoom")).to_be_visible()
    expect(page.get_by_role("radio", name="spectral:shift=0.5").first).to_be_checked()
