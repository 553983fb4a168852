"""Instant mode in a browser: a dragged knob redraws everything; older values, links, many seeds."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.serving import App
from tests.browser.watching import INK, say

pytestmark = pytest.mark.e2e

AT_REST = ".acs-instant[data-epoch='300']"
CURVE = "(kind) => document.querySelector(`[data-kind='${kind}'] table`).textContent"
PICTURE = "(kind) => document.querySelector(`[data-kind='${kind}'] canvas`).toDataURL()"


def counts(page: Page) -> tuple[int, int]:
    """How many computations reached their first epochs, and how many a newer value overtook."""
    text = page.locator(".acs-tally").text_content() or ""
    found = re.match(r"(\d+) shown, (\d+) overtaken by a newer value", text)
    assert found is not None, text
    return int(found[1]), int(found[2])


def slider(page: Page, name: str):  # type: ignore[no-untyped-def]
    return page.locator(f"#acs-knob-{name}")


def test_dragging_a_knob_redraws_curves_and_points_and_gives_older_values_up(
    app: App, open_page: Open
) -> None:
    page = open_page(f"{app.address}/instant")
    page.wait_for_selector(AT_REST)
    for kind in ("loss", "accuracy", "E + P", "normalized E + P", "level lines"):
        assert page.locator(f'[data-kind="{kind}"] canvas').evaluate(INK) > 300, kind
    loss, points = page.evaluate(PICTURE, "loss"), page.evaluate(PICTURE, "E + P")
    computed, given_up = counts(page)
    box = slider(page, "learning_rate").bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.4, middle)
    page.mouse.down()
    drawn = set()
    for i in range(60):
        page.mouse.move(box["x"] + box["width"] * (0.4 + 0.004 * i), middle)
        page.wait_for_timeout(30)
        drawn.add(page.locator(".acs-instant").get_attribute("data-drawn"))
    assert page.evaluate(PICTURE, "loss") != loss and page.evaluate(PICTURE, "E + P") != points
    page.mouse.up()
    page.wait_for_selector(AT_REST)
    now = counts(page)
    assert len(drawn) >= 3 and now[0] > computed and now[1] > given_up
    say(f"{now[0] - computed} retrainings while a knob moved: {page.locator('.acs-rate').text_content()}")
    expect(page.locator(".acs-rate")).to_have_text(re.compile(r"redrawn [\d.]+ times a second"))
    expect(page.locator(".acs-rate")).to_have_attribute("title", "A redraw begins with 5 seeds × 100 epochs")
    expect(page).to_have_url(re.compile(r"learning_rate=0\.\d+"))


def test_keys_turn_a_knob_and_what_depends_on_it_follows(app: App, open_page: Open) -> None:
    page = open_page(f"{app.address}/instant?length=5&n_terms=5&n_seeds=2")
    page.wait_for_selector(AT_REST)
    drawn = page.locator(".acs-instant").get_attribute("data-drawn")
    slider(page, "length").focus()
    page.keyboard.press("ArrowLeft")
    expect(slider(page, "n_terms")).to_have_attribute("aria-valuetext", "4")
    page.wait_for_function(
        "(drawn) => Number(document.querySelector('.acs-instant').dataset.drawn) > Number(drawn)", arg=drawn
    )
    page.wait_for_selector(AT_REST)
    expect(page.locator('[data-kind="loss"] table')).to_contain_text("mean of 2 seeds")
    seeds = page.get_by_role("radiogroup", name="Seed in the pictures").get_by_role("radio")
    expect(seeds).to_have_count(2)
    before = page.evaluate(PICTURE, "E + P")
    seeds.nth(1).click()
    page.wait_for_function(f"(before) => ({PICTURE})('E + P') !== before", arg=before)


def test_where_motion_is_unwelcome_curves_come_whole(app: App, open_page: Open) -> None:
    page = open_page(f"{app.address}/instant?d_model=8&d_ff=64", reduced_motion="reduce")
    page.wait_for_selector(AT_REST)
    page.evaluate(
        "() => { window.epochs = []; document.querySelector('.acs-instant')"
        ".addEventListener('acs-drawn', ({ detail }) => window.epochs.push(detail.epoch)); }"
    )
    slider(page, "learning_rate").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("window.epochs.at(-1) === 300 && window.epochs.length > 1")
    fresh = page.evaluate("window.epochs.filter((epoch) => epoch < 300)")
    assert fresh and min(fresh) >= 100


def test_the_address_and_the_sandbox_get_the_settings(app: App, open_page: Open) -> None:
    page = open_page(f"{app.address}/instant?learning_rate=0.0111&d_ff=8")
    page.wait_for_selector(AT_REST)
    expect(page.locator("output[for=acs-knob-learning_rate]")).to_have_text("0.0111")
    page.get_by_role("button", name="Train this in the Sandbox").click()
    page.wait_for_url("**/sandbox**")
    rail = page.locator('[data-testid="stSidebar"]')
    expect(rail).to_contain_text("Visual model")
    expect(rail.get_by_label("Learning rate", exact=True)).to_have_value("0.0111")


def test_many_seeds_are_counted_live_and_can_be_cancelled(app: App, open_page: Open) -> None:
    page = open_page(f"{app.address}/instant?batch_size=512&d_ff=4&n_seeds=1")
    page.wait_for_selector(AT_REST)
    page.get_by_role("button", name=re.compile("100 seeds")).click()
    told = page.locator(".acs-told")
    expect(told).to_contain_text(re.compile(r"\d+ solved .* 95 % interval .* \d+ of 100 seeds"))
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(told).to_contain_text(re.compile(r"ended after \d+ of 100 seeds"))
    expect(page.locator("#acs-success-table")).to_contain_text("%")
    assert page.locator(".acs-success canvas").evaluate(INK) > 200
