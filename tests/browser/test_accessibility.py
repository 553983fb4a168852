"""Every page as axe sees it: no finding that it calls serious or critical, in either theme."""

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.conftest import Open
from tests.browser.serving import App
from tests.live.synthetic import SyntheticRun

pytestmark = pytest.mark.e2e

GRAVE = ("serious", "critical")
PAGES = {
    "/": "[data-testid=stMain] .acs-live[data-step]",
    "/sandbox": ".st-key-sandbox-train button",
    "/run?run=looked-at": ".acs-live[data-step]",
    "/reference": "[role=tab]",
}
UNFOLD = "document.querySelectorAll('.acs-unfold[aria-expanded=false]').forEach((button) => button.click())"


def grave(page: Page) -> list[str]:
    """What axe finds, with the places where it does."""
    found = Axe().run(page).response["violations"]
    return [
        f"{fault['id']} ({fault['impact']}): {node['html'][:200]}"
        for fault in found
        if fault["impact"] in GRAVE
        for node in fault["nodes"]
    ]


@pytest.fixture(scope="module")
def looked_at(app: App) -> str:
    """A finished run with readings of every kind that is cheap, and a seed that diverged."""
    run = SyntheticRun(app.runs / "looked-at", steps=300, nan_at=220, groups=True, visual=True)
    run.grow(300)
    run.finish()
    return "looked-at"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_no_page_has_a_grave_fault(app: App, open_page: Open, looked_at: str, path: str, scheme: str) -> None:
    page = open_page(app.address + path, color_scheme=scheme)
    page.wait_for_selector(PAGES[path])
    page.wait_for_load_state("networkidle")
    page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')
    page.wait_for_timeout(1500)  # what is fresh fades in
    if looked_at in path:
        page.evaluate(UNFOLD)
        page.wait_for_timeout(600)
    assert grave(page) == []


def test_neither_has_the_list_of_keys_the_projector_nor_an_explanation(
    app: App, open_page: Open, looked_at: str
) -> None:
    page = open_page(app.run(looked_at))
    page.wait_for_selector(".acs-live[data-step]")
    opened: dict[str, Callable[[], None]] = {
        "keys": lambda: page.keyboard.press("?"),
        "projector": lambda: page.keyboard.press("p"),
        "explanation": lambda: page.get_by_role("button", name="About Loss").click(),
    }
    for what, act in opened.items():
        page.locator(".acs-live").get_by_role("slider").focus()
        act()
        page.wait_for_timeout(300)
        assert grave(page) == [], what
        page.keyboard.press("Escape")
