"""A link to what is shown: copied from one page, it shows the same on another."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from sandbox.ui.view_link import PanelView, RunView, encode
from tests.browser.conftest import Open
from tests.browser.serving import App

pytestmark = pytest.mark.e2e

CHOSEN = """() => {
  const all = (what) => [...document.querySelectorAll(what)];
  return {
    step: Number(document.querySelector('.acs-time input.acs-step').value),
    pressed: all('[role=radio][aria-checked=true]').map((node) => node.textContent),
    chips: all('[data-renderer=curves] .acs-chip').map((node) => node.getAttribute('aria-pressed')),
    open: all('.acs-unfold[aria-expanded=true] span').map((node) => node.textContent),
    hidden: all('.acs-eye').map((node) => node.getAttribute('aria-pressed')),
    smoothed: all('[data-kind=loss] .acs-chip').map((node) => node.textContent),
    maps: all('[data-kind="attention map"] .acs-chip').map((node) => node.getAttribute('aria-pressed')),
    projected: document.querySelector('.acs-live').classList.contains('acs-projector')
      ? all('.acs-projected select').map((node) => node.value) : [],
  };
}"""
COPIED = """async () => {
  document.querySelector('.acs-copy').click();
  const copied = () => document.querySelector('.acs-copy').textContent === 'Copied';
  while (!copied()) await new Promise((later) => setTimeout(later, 50));
  return navigator.clipboard.readText();
}"""
SETTLED = "() => document.querySelector('.acs-time input.acs-step').value === '80'"


def chosen(page: Page) -> dict[str, Any]:
    """What the page shows now."""
    return dict(page.evaluate(CHOSEN))


def test_a_copied_link_shows_the_same_elsewhere(app: App, finished: str, open_page: Open) -> None:
    page = open_page(f"{app.address}/run?run={finished}", permissions=["clipboard-read", "clipboard-write"])
    page.wait_for_selector("[data-testid=stMain] .acs-live[data-step='160']")
    field = page.locator(".acs-time input.acs-step")
    field.fill("80")
    field.press("Enter")
    page.locator('[data-kind=loss] .acs-chip[title^="A logarithmic"]').click()
    for _ in range(2):
        page.locator('[data-kind=loss] .acs-chip[title^="The mean of each"]').click()
    page.locator('[data-kind="attention map"] .acs-chip', has_text="all heads").click()
    for name, place in (("Seed", 1), ("Head", 1)):
        page.get_by_role("radiogroup", name=name).get_by_role("radio").nth(place).click()
    page.locator(".acs-arm").nth(1).click()
    page.locator(".acs-eye").nth(0).click()
    page.locator(".acs-unfold").first.click()
    page.wait_for_function(SETTLED)
    before = chosen(page)
    page.locator(".acs-copy").click()
    expect(page.locator(".acs-copy")).to_have_text("Copied")
    link = str(page.evaluate("() => navigator.clipboard.readText()"))
    assert f"run={finished}" in link
    assert "setup=1." in link
    again = open_page(link)
    again.wait_for_selector(".acs-live[data-restored]")
    again.wait_for_function(SETTLED)
    assert chosen(again) == before
    assert again.locator('[data-testid="stAlert"]').all_text_contents() == []
    assert before["hidden"][0] == "false" and "smooth 17" in before["smoothed"] and "true" in before["maps"]


def test_a_link_copied_from_the_projector_opens_on_it(app: App, finished: str, open_page: Open) -> None:
    page = open_page(f"{app.address}/run?run={finished}", permissions=["clipboard-read", "clipboard-write"])
    page.wait_for_selector("[data-testid=stMain] .acs-live[data-step='160']")
    page.get_by_role("button", name="Projector").click()
    page.get_by_label("Left panel").select_option("loss")
    page.get_by_label("Right panel").select_option("theta")
    link = str(page.evaluate(COPIED))
    again = open_page(link)
    again.wait_for_selector(".acs-live.acs-projector[data-restored]")
    assert chosen(again)["projected"] == ["loss", "theta"]
    assert again.locator('[data-testid="stAlert"]').all_text_contents() == []


def test_what_a_link_shows_and_the_run_has_not_is_said(app: App, finished: str, open_page: Open) -> None:
    view = RunView(
        step=10**6,
        head=7,
        projector=("loss", "opera"),
        panels={"loss": PanelView(smoothed=9, shown=("opera",))},
    )
    page = open_page(f"{app.address}/run?run={finished}&view={encode(view)}")
    page.wait_for_selector(".acs-live.acs-projector[data-restored]")
    told = " ".join(page.locator('[data-testid="stAlert"]').all_text_contents())
    for word in ("step 1000000", "160 is taken", "head 7", "projector 'opera'", "smoothing of loss 9"):
        assert word in told, told
    expect(page.locator(".acs-reason")).to_contain_text("what this run has not: opera")


def test_a_comparison_opens_elsewhere_as_it_was_left(app: App, finished: str, open_page: Open) -> None:
    page = open_page(
        f"{app.address}/compare?runs={finished}&metric=train_loss&smooth=3&band=quartiles&log=on"
    )
    page.wait_for_selector(".st-key-compare-show")
    page.get_by_role("radio", name="Side by side").click()
    page.wait_for_url(lambda address: "show=side" in address)
    again = open_page(page.url)
    for one in (page, again):
        expect(one.get_by_role("radio", name="Side by side")).to_be_checked()
        expect(one.get_by_role("spinbutton", name="Smooth over")).to_have_value("3")
        expect(one.get_by_role("combobox", name="Band")).to_have_value("25 to 75 %")
        expect(one.get_by_role("combobox", name="Shown")).to_have_value("Training loss")
        expect(one.get_by_role("figure", name="Training loss of 2 groups")).to_be_visible()


def test_the_owner_is_remembered_by_the_browser(app: App, open_page: Open) -> None:
    page = open_page(f"{app.address}/sandbox")
    page.get_by_role("button", name="Queue").click()
    field = page.get_by_role("textbox", name="Your name in the queue")
    field.fill("ann of room 3")
    field.press("Enter")
    page.wait_for_function("() => document.cookie.includes('acs_owner=')")
    again = page.context.new_page()
    again.goto(f"{app.address}/sandbox")
    again.get_by_role("button", name="Queue").click()
    expect(again.get_by_role("textbox", name="Your name in the queue")).to_have_value("ann of room 3")


def test_an_address_that_leads_nowhere_says_so(app: App, open_page: Open) -> None:
    page = open_page(f"{app.address}/a/b/c")
    expect(page.get_by_role("heading", name="There is no page here")).to_be_visible()
    page.get_by_role("link", name="Runs").click()
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    page.goto(f"{app.address}/gallery/")
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
