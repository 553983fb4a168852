"""Every page as axe sees it: no finding that it calls serious or critical, in either theme."""

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from sandbox.store import open_run
from sandbox.store.study import Study, StudyPoint, write_study
from tests.browser.conftest import Open
from tests.browser.serving import LONG, App
from tests.browser.watching import Watched, settled
from tests.live.synthetic import SyntheticRun

pytestmark = pytest.mark.e2e

GRAVE = ("serious", "critical")
PAGES = {
    "/": "[data-testid=stMain] .acs-live[data-step]",
    "/sandbox": ".st-key-sandbox-train button",
    "/run?run=looked-at": ".acs-live[data-step]",
    "/compare?runs=looked-at": ".js-plotly-plot",
    "/gallery": ".st-key-gallery-card-looked-at",
    "/study?study=looked-over": "h1 >> text=Looked over",
    "/reference": "[role=tab]",
    "/instant": ".acs-instant[data-epoch='300']",
}
UNFOLD = "document.querySelectorAll('.acs-unfold[aria-expanded=false]').forEach((button) => button.click())"


GROUND = "getComputedStyle(document.querySelector('.stApp')).backgroundColor"
DARK, LIGHT = "rgb(18, 22, 28)", "rgb(255, 255, 255)"


def grave(page: Page) -> list[str]:
    """What axe finds in the light theme, and then in the dark one that the page changes to as it stands."""
    found = _found(page)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"{GROUND} === '{DARK}'")
    settled(page)
    found += [f"in the dark, {fault}" for fault in _found(page)]
    page.emulate_media(color_scheme="light")
    page.wait_for_function(f"{GROUND} === '{LIGHT}'")
    return found


def _found(page: Page) -> list[str]:
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


@pytest.fixture(scope="module")
def study(app: App, finished: str) -> None:
    """A study of one point, which is done."""
    with open_run(app.runs / finished) as run:
        point = StudyPoint(finished, {"model.d_model": 8}, run.experiment, {"flops": 1e6})
        write_study(
            Study("looked-over", "Looked over", "ann", "cpu", 1.0, ("model.d_model",), (point,)), app.runs
        )


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.usefixtures("study")
def test_no_page_has_a_grave_fault(app: App, open_page: Open, looked_at: str, path: str) -> None:
    page = open_page(app.address + path, color_scheme="light")
    page.wait_for_selector(PAGES[path])
    settled(page)
    if path.startswith("/run"):
        page.evaluate(UNFOLD)
        page.wait_for_timeout(600)
    assert grave(page) == []


def test_the_sandbox_has_none_while_a_run_trains_nor_with_edits_pending_nor_after_it(
    app: App, open_page: Open
) -> None:
    page = open_page(app.setup(LONG), color_scheme="light")
    watched = Watched(page)
    watched.train()
    watched.beyond(20)
    assert grave(page) == []
    steps = page.locator('[data-testid="stSidebar"]').get_by_role("spinbutton", name="Steps").first
    steps.fill("60000")
    steps.press("Tab")
    page.locator(".st-key-sandbox-pending").wait_for()
    page.wait_for_timeout(800)
    assert grave(page) == []
    watched.press("stop", "^Stopped$")
    settled(page)
    assert grave(page) == []


def test_the_study_of_a_run_has_none_in_any_tab(app: App, finished: str, open_page: Open) -> None:
    page = open_page(f"{app.address}/run?run={finished}", color_scheme="light")
    expect(page.locator(".acs-live .acs-state")).to_have_text("Done")  # nothing moves below it any more
    page.get_by_text("Study the figures").click()
    page.locator(".js-plotly-plot .legend").wait_for()
    tabs = page.locator(".st-key-run-study [role=tab]")
    for place in range(min(tabs.count(), 6)):
        tabs.nth(place).click()
        settled(page)
        assert grave(page) == [], tabs.nth(place).inner_text()


def test_neither_has_the_list_of_keys_the_projector_nor_an_explanation(
    app: App, open_page: Open, looked_at: str
) -> None:
    page = open_page(app.run(looked_at), color_scheme="light")
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
