"""A link to what is shown: copied from one page, it shows the same on another."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

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
  };
}"""
SETTLED = "() => document.querySelector('.acs-time input.acs-step').value === '80'"


def chosen(page: Page) -> dict[str, Any]:
    """What the page shows now."""
    return dict(page.evaluate(CHOSEN))


def test_a_copied_link_shows_the_same_elsewhere(app: App, finished: str, open_page: Open) -> None:
    page = open_page(f"{app.address}/run?run={finished}", permissions=["clipboard-read", "clipboard-write"])
    page.wait_for_selector("[data-testid=stMain] .acs-live[data-step]")
    field = page.locator(".acs-time input.acs-step")
    field.fill("80")
    field.press("Enter")
    page.locator('[data-kind=loss] .acs-chip[title^="A logarithmic"]').click()
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
    assert before["hidden"][0] == "false"
