"""What a person holds on to stays through updates: nodes, zoom, selection, playhead, the mouse's place."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.live.serving import served
from tests.live.synthetic import SyntheticRun
from tests.live.test_live_browser import at_step, page
from tests.live.upkeep import heap, seen, train, watch

pytestmark = pytest.mark.e2e

MINUTES = 10
SPARE = 12.0
"""Megabytes by which the heap may differ after ten minutes: rows and pictures are kept up to a limit."""


def zoom(view: Page) -> None:
    """Brush a stretch of the loss."""
    box = view.locator('[data-kind="loss"] canvas').bounding_box()
    assert box is not None
    view.mouse.move(box["x"] + 100, box["y"] + 60)
    view.mouse.down()
    view.mouse.move(box["x"] + 220, box["y"] + 60, steps=4)
    view.mouse.up()


def test_nodes_zoom_selection_and_playhead_outlive_updates(
    runs_folder: Path, made_up: Callable[..., SyntheticRun], chromium: str
) -> None:
    run = made_up(runs_folder / "run", seeds=5, steps=4000)
    run.grow(200)
    with served(runs_folder) as address, page(chromium) as view:
        view.goto(address)
        at_step(view, 200)
        view.get_by_role("radio", name="preconditioned").click()
        view.get_by_role("radiogroup", name="Seed").get_by_role("radio").nth(3).click()
        view.get_by_role("button", name="Show standard on the curves").click()
        view.locator('[data-kind="loss"]').scroll_into_view_if_needed()
        zoom(view)
        view.get_by_label("Go to step").fill("160")
        view.keyboard.press("Enter")
        expect(view.locator(".acs-viewing")).to_have_text("viewing step 160")
        view.wait_for_timeout(600)
        watch(view)
        for step in range(220, 500, 20):
            run.grow(step)
            view.wait_for_timeout(60)
        view.wait_for_function("Number(document.querySelector('.acs-live').dataset.step) >= 480")
        found = seen(view)
        assert found["were"] == found["are"] > 60
        assert found["shifts"] == []
        expect(view.locator(".acs-viewing")).to_have_text("viewing step 160")
        expect(view.get_by_role("button", name="Reset zoom")).to_be_visible()
        expect(view.get_by_role("radio", name="preconditioned")).to_be_checked()
        expect(view.get_by_role("radiogroup", name="Seed").get_by_role("radio").nth(3)).to_be_checked()
        shown = view.get_by_role("button", name="Show standard on the curves")
        expect(shown).to_have_attribute("aria-pressed", "false")
        view.get_by_role("button", name="Fill the screen with Loss").click()
        run.grow(520)
        expect(view.locator('[data-kind="loss"] .acs-words')).to_contain_text("viewing step 160")
        expect(view.get_by_role("button", name="Reset zoom")).to_be_visible()
        view.keyboard.press("Escape")
        expect(view.get_by_role("radio", name="preconditioned")).to_be_checked()
        expect(view.get_by_role("button", name="Reset zoom")).to_be_visible()


def test_a_tip_tells_the_newest_numbers_while_the_mouse_stands_still(
    runs_folder: Path, made_up: Callable[..., SyntheticRun], chromium: str
) -> None:
    run = made_up(runs_folder / "run", steps=1500)
    run.grow(200)
    with served(runs_folder) as address, page(chromium) as view:
        view.goto(address)
        at_step(view, 200)
        loss = view.locator('[data-kind="loss"]')
        loss.scroll_into_view_if_needed()
        box = loss.locator("canvas").bounding_box()
        assert box is not None
        view.mouse.move(box["x"] + box["width"] - 14, box["y"] + 70)
        tip = loss.locator(".acs-tip")
        expect(tip.locator(".acs-tip-step")).to_have_text("step 200")
        before = tip.locator("b").all_text_contents()
        run.grow(600)
        at_step(view, 600)
        expect(tip.locator(".acs-tip-step")).to_have_text("step 600")
        assert tip.locator("b").all_text_contents() != before


@pytest.mark.long
@pytest.mark.timeout(60 * MINUTES + 300)
def test_ten_minutes_of_training_remount_nothing_shift_nothing_and_keep_no_memory(
    runs_folder: Path, made_up: Callable[..., SyntheticRun], chromium: str
) -> None:
    run = made_up(runs_folder / "run", seeds=5, steps=60_000, visual=True)
    run.grow(2000)
    with served(runs_folder) as address, page(chromium) as view:
        view.goto(address)
        at_step(view, 2000)
        view.wait_for_timeout(2000)
        watch(view)
        train(run, 120)
        early = heap(view)
        for _ in range(MINUTES - 2):
            train(run, 60)
            found = seen(view)
            assert found["were"] == found["are"], "something was built anew"
            assert found["shifts"] == []
        assert heap(view) <= early + SPARE
        assert int(view.locator(".acs-live").get_attribute("data-step") or 0) > run.step - 40
