"""Small screens: panels stack below 1100 pixels, and a phone plays a replay without sideways scrolling."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.live.synthetic import SyntheticRun
from tests.live.watched_canvas import calls, replayed

pytestmark = pytest.mark.e2e

PHONE = {"width": 390, "height": 844}
SIDEWAYS = "document.documentElement.scrollWidth - innerWidth"
OUTSIDE = """[...document.querySelectorAll('.acs-live :is(button, input, select, canvas, h3, p)')]
  .filter((node) => node.checkVisibility() && !node.closest('.acs-hidden'))
  .filter((node) => node.getBoundingClientRect().right > innerWidth + 1)
  .map((node) => node.className + node.textContent)"""
LEFT_EDGES = (
    "[...document.querySelectorAll('.acs-panel')].filter((p) => p.checkVisibility()).map((p) => p.offsetLeft)"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = SyntheticRun(tmp_path_factory.mktemp("small") / "run", steps=400, nan_at=300, groups=True)
    run.grow(400)
    run.finish()
    return run.writer.path


def test_a_phone_shows_a_replay_whole_scrubs_it_and_sees_every_curve(folder: Path, browser: Browser) -> None:
    with replayed(folder, browser, viewport=PHONE, has_touch=True) as page:
        assert page.evaluate(SIDEWAYS) == 0
        assert page.evaluate(OUTSIDE) == []
        page.get_by_label("Go to step").fill("200")
        page.get_by_label("Go to step").press("Enter")
        expect(page.locator(".acs-viewing")).to_have_text("viewing step 200")
        page.get_by_label("One recorded step forward (→)").tap()
        expect(page.locator(".acs-viewing")).to_have_text("viewing step 220")
        page.locator(".acs-play").tap()
        expect(page.locator(".acs-play")).to_have_text("Hold")
        page.locator(".acs-play").tap()
        for kind in ("loss", "accuracy", "theta", "condition numbers"):
            assert len(calls(page, kind, "lineTo")) > 50, kind
        assert page.evaluate(SIDEWAYS) == 0


@pytest.mark.parametrize(("width", "columns"), [(390, 1), (1000, 1), (1099, 1), (1100, 5), (1366, 5)])
def test_panels_stack_below_1100_pixels(folder: Path, browser: Browser, width: int, columns: int) -> None:
    with replayed(folder, browser, viewport={"width": width, "height": 768}) as page:
        assert len(set(page.evaluate(LEFT_EDGES))) <= columns
        assert (len(set(page.evaluate(LEFT_EDGES))) == 1) == (columns == 1)
        assert page.evaluate(SIDEWAYS) == 0 and page.evaluate(OUTSIDE) == []
        for section in page.locator(".acs-unfold").all():
            section.click()
        assert page.evaluate(SIDEWAYS) == 0 and page.evaluate(OUTSIDE) == []


def test_the_title_of_a_panel_stays_readable_beside_its_badge_and_chips(
    folder: Path, browser: Browser
) -> None:
    for width in (390, 1366):
        with replayed(folder, browser, viewport={"width": width, "height": 768}) as page:
            cut = "(h) => h.scrollWidth > h.clientWidth + 1"
            titles = page.locator(".acs-grid > .acs-panel h3").all()
            assert [t.text_content() for t in titles if t.evaluate(cut)] == []
