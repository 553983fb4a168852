"""Edits while a run is on: each setting says when it acts, and what is pending has ways on (C21)."""

import re

import pytest
from playwright.sync_api import Page, expect

from sandbox.store import open_run
from tests.browser.conftest import Open
from tests.browser.serving import App, eventually
from tests.browser.watching import Watched

pytestmark = pytest.mark.e2e


STEPS, RATE, HEADS = "run-steps", "optimizer-adamw-learning_rate", "architecture-encoder-n_heads"
"""Places of settings in the rail."""


def unfold(page: Page) -> None:
    """Open every drawer of the rail, and wait until the page has come to rest."""
    page.get_by_role("radio", name="Researcher").click()
    page.wait_for_timeout(1000)
    page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')


def edit(page: Page, place: str, value: str) -> None:
    """Type a number into the rail."""
    unfold(page)
    field = page.locator(f'[data-testid="stSidebar"] .st-key-{place} input')
    field.fill(value)
    field.press("Tab")


def pending(page: Page) -> list[str]:
    """The buttons beside the edits."""
    return page.locator(".st-key-sandbox-pending button:visible").all_inner_texts()


def test_every_setting_of_the_rail_says_live_or_next_run(app: App, finished: str, open_page: Open) -> None:
    page = open_page(app.run(finished))
    page.wait_for_selector(".acs-live[data-step]")
    unfold(page)
    for place, when in ((STEPS, "Next run:"), (RATE, "Live:"), (HEADS, "Next run:")):
        own = page.locator(f'[data-testid="stSidebar"] .st-key-{place}')
        own.scroll_into_view_if_needed()
        own.get_by_role("button", name="Help for").hover()
        expect(page.get_by_role("tooltip")).to_contain_text(when)
        page.mouse.move(700, 400)
        expect(page.get_by_role("tooltip")).to_have_count(0)


def test_pending_edits_are_listed_and_can_be_started_forked_or_discarded(
    app: App, finished: str, open_page: Open
) -> None:
    page = open_page(app.run(finished))
    page.wait_for_selector(".acs-live[data-step]")
    start = page.locator(".st-key-sandbox-train button")
    expect(start).to_contain_text("Train again")
    edit(page, STEPS, "200")
    expect(start).to_contain_text("1 change: Start new")
    expect(page.locator('[data-testid="stSidebar"]')).to_contain_text("Steps: 160 to 200")
    assert pending(page) == ["Fork here", "Discard"]
    page.get_by_role("button", name="Discard").click()
    expect(start).to_contain_text("Train again")
    expect(page.locator(".st-key-sandbox-pending")).to_have_count(0)
    edit(page, STEPS, "200")
    page.get_by_role("button", name="Fork here").click()
    page.wait_for_url(lambda address: "run=" in address and finished not in address)
    found = re.search(r"run=([^&]+)", page.url)
    assert found is not None
    assert app.ended(found[1]).state == "done"
    with open_run(app.runs / found[1]) as child:
        assert child.experiment["fork"]["step"] == 160 and child.status["step"] == 200
    expect(page.locator(".acs-lineage")).to_contain_text(f"goes on from step 160 of {finished}")


def test_what_only_a_new_run_can_have_is_not_offered_as_a_fork(
    app: App, finished: str, open_page: Open
) -> None:
    page = open_page(app.run(finished))
    page.wait_for_selector(".acs-live[data-step]")
    edit(page, HEADS, "1")
    expect(page.get_by_role("button", name="Fork here")).to_be_disabled()
    expect(page.locator(".st-key-sandbox-train button")).to_contain_text("1 change: Start new")


def test_a_live_edit_acts_in_the_run_and_is_marked_on_its_timeline(app: App, training: Watched) -> None:
    page = training.page
    training.beyond(5)
    edit(page, RATE, "0.002")
    expect(page.locator(".st-key-sandbox-train button")).to_contain_text("1 change: Start new")
    page.get_by_role("button", name="Apply now").click()
    run = open_run(app.runs / training.run_id)
    changes = eventually(lambda: run.meta("changes"), 30, "the change")
    assert {(one["key"], one["value"]) for one in changes} == {("optimizer.learning_rate", 0.002)}
    assert {one["arm"] for one in changes} == {*run.arms}
    assert any(event.kind == "live change" for event in run.events())
    run.close()
    expect(page.locator(".st-key-sandbox-train button")).to_contain_text("Train again")
