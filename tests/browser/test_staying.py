"""What is looked at stays where it is: the page under the study's tabs, and Train above the scrolled rail."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.serving import App
from tests.browser.watching import settled

pytestmark = pytest.mark.e2e

BAR = "document.querySelector('.st-key-run-study [role=tablist]').getBoundingClientRect().top"
CLICKABLE = 70
"""Where the bar stands, in pixels of the window: just below the page's head."""
SCROLL = f"document.querySelector('[data-testid=stMain]').scrollTop += {BAR} - {CLICKABLE}"
WATCH = """() => { window.tops = [];
  const look = () => { window.tops.push(Math.round(BAR)); requestAnimationFrame(look); };
  requestAnimationFrame(look); }""".replace("BAR", BAR)
GROUND = {"light": "rgb(247, 249, 251)", "dark": "rgb(14, 18, 23)"}


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1366, 768)])
def test_the_page_stays_where_it_is_as_another_tab_of_the_study_opens(
    app: App, finished: str, open_page: Open, width: int, height: int
) -> None:
    page = open_page(f"{app.address}/run?run={finished}", viewport={"width": width, "height": height})
    expect(page.locator(".acs-live .acs-state")).to_have_text("Done")  # nothing moves above it any more
    page.get_by_text("Study the figures").click()
    page.locator(".js-plotly-plot .legend").wait_for()
    settled(page)
    page.evaluate(SCROLL)
    page.wait_for_timeout(300)
    page.evaluate(WATCH)
    for name in ("Accuracy", "Attention map", "Loss"):
        page.get_by_role("tab", name=name, exact=True).dispatch_event("click")  # which scrolls to nothing
        page.locator(f".st-key-run-{name.replace(' ', '-')}-figure .js-plotly-plot").wait_for()
        settled(page)
    tops = page.evaluate("window.tops")
    assert max(tops) - min(tops) <= 1 and abs(tops[0] - CLICKABLE) <= 1, sorted(set(tops))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_shows_behind_train_as_the_rail_is_scrolled(app: App, open_page: Open, scheme: str) -> None:
    page: Page = open_page(f"{app.address}/sandbox", color_scheme=scheme)
    block = page.locator("[data-testid=stLayoutWrapper]:has(> .st-key-rail-train)")
    sidebar = page.get_by_test_id("stSidebar")
    expect(block).to_have_css("background-color", GROUND[scheme])
    expect(sidebar).to_have_css("background-color", GROUND[scheme])
