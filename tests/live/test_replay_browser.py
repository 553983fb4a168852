"""A saved replay opened from disk in Chromium: it plays and scrubs, and no request leaves it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from sandbox.live.replay.page import write_replay
from sandbox.store import open_run
from tests.live import synthetic
from tests.live.serving import FLAGS
from tests.live.synthetic import SyntheticRun
from tests.live.test_live_browser import INK

pytestmark = pytest.mark.e2e

HOSTILE = (
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    "spectral:shift=0.5",
)
PICTURE = "document.querySelector('[data-kind=\"attention map\"] canvas').toDataURL()"


@contextmanager
def opened(path: Path, chromium: str, **options: Any) -> Iterator[Page]:
    """The file in a browser page; a script error, a console message or a second request fails the test."""
    faults: list[str] = []
    asked: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(**({"viewport": {"width": 1366, "height": 768}} | options))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text))
        page.on("request", lambda request: asked.append(request.url))
        page.on("websocket", lambda socket: asked.append(socket.url))
        page.goto(path.as_uri())
        yield page
        browser.close()
    assert (faults, asked) == ([], [path.as_uri()])


def soon(page: Page, truth: str) -> None:
    """Wait until it holds; looked at from here, since the file's policy lets no text be evaluated in it."""
    for _ in range(400):
        if page.evaluate(truth):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"it never came true: {truth[:200]}")


@pytest.fixture
def file(runs_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A replay of a run that somebody has given hostile names."""
    monkeypatch.setattr(synthetic, "ARMS", HOSTILE)
    run = SyntheticRun(runs_folder / "run", arms=3, seeds=2, steps=600, groups=True)
    run.writer.describe(notes=list(HOSTILE))
    run.writer.event(300, "mark", HOSTILE[0], 1, 0)
    run.grow(600)
    run.finish()
    with open_run(runs_folder / "run") as opened_run:
        return write_replay(opened_run, tmp_path / "replay.html")


def test_a_replay_plays_scrubs_and_answers_choices_without_a_request(file: Path, chromium: str) -> None:
    with opened(file, chromium) as page:
        field = page.get_by_label("Go to step")
        expect(page.locator(".acs-play")).to_have_text("Hold")
        expect(field).not_to_have_value("0")
        for kind in ("loss", "accuracy", "attention map", "trajectories"):
            page.locator(f'[data-kind="{kind}"]').scroll_into_view_if_needed()
            soon(page, f"({INK})({kind!r}) > 300")
        page.locator(".acs-play").click()
        field.fill("200")
        field.press("Enter")
        expect(page.locator(".acs-viewing")).to_have_text("viewing step 200")
        page.locator('[data-kind="attention map"]').scroll_into_view_if_needed()
        page.wait_for_timeout(100)
        before = page.evaluate(PICTURE)
        page.get_by_role("slider", name="Step that is shown").press("End")
        expect(page.locator(".acs-viewing")).to_have_text("viewing step 600")
        soon(page, f"{PICTURE} !== {before!r}")
        at_end = page.evaluate(PICTURE)
        page.get_by_role("radio", name="spectral:shift=0.5").click()
        soon(page, f"{PICTURE} !== {at_end!r}")
        seed = page.get_by_role("radiogroup", name="Seed").get_by_role("radio").nth(1)
        seed.click()
        expect(seed).to_be_checked()
        page.get_by_label("Next event (E)").click()
        wide = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert wide[0] <= wide[1]


def test_no_text_of_the_run_acts_and_every_name_is_shown_as_it_is(file: Path, chromium: str) -> None:
    with opened(file, chromium) as page:
        expect(page.locator(".acs-name").nth(1)).to_have_text(HOSTILE[1])
        expect(page.locator("table.report").first).to_contain_text(HOSTILE[0])
        page.get_by_text("Python", exact=True).click()
        expect(page.locator("details[open] pre")).to_contain_text("sandbox.train")
        assert page.evaluate("window.hacked") is None
        assert page.locator("img").count() == 0


def test_even_a_script_that_got_in_may_neither_act_nor_ask(file: Path, chromium: str) -> None:
    text = file.read_text().replace("<main>", "<main><script>window.hacked = 1</script>", 1)
    broken = file.with_name("broken.html")
    broken.write_text(text)
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=chromium, args=FLAGS).new_page()
        page.goto(broken.as_uri())
        assert page.evaluate("window.hacked") is None
        refused = page.evaluate("fetch('https://example.org').then(() => 'sent', () => 'refused')")
        assert refused == "refused"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_theme_is_the_readers(file: Path, chromium: str, scheme: str) -> None:
    with opened(file, chromium, color_scheme=scheme) as page:
        soon(page, f"({INK})('accuracy') > 100")
        shade = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert shade == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 28)"}[scheme]
