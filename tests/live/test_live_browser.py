"""The live view in Chromium: a growing run draws, keeps its zoom, obeys, comes back; a recorded one plays."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from sandbox.runner.control import RunControl
from tests.live.serving import FLAGS, free_port, served
from tests.live.synthetic import SyntheticRun

pytestmark = pytest.mark.e2e

# How many pixels of a panel's canvas are not background.
INK = """(kind) => {
  const canvas = document.querySelector(`[data-kind="${kind}"] canvas`);
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  let n = 0;
  for (let i = 3; i < pixels.length; i += 4) if (pixels[i] > 60) n++;
  return n;
}"""

SWATCHES = """() => [...document.querySelectorAll('.acs-swatch')].map((canvas) => canvas.getContext('2d')
  .getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 60))"""
PICTURE = "document.querySelector('[data-kind=loss] canvas').toDataURL()"


@contextmanager
def page(chromium: str, **options: Any) -> Iterator[Page]:
    """A browser page whose script errors fail the test."""
    errors: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        made = browser.new_page(viewport={"width": 1366, "height": 768}, **options)
        made.on("pageerror", lambda error: errors.append(str(error)))
        yield made
        browser.close()
    assert errors == []


def at_step(page: Page, step: int) -> None:
    page.wait_for_selector(f'.acs-live[data-step="{step}"]', timeout=20_000)


@pytest.fixture
def run(runs_folder: Path, made_up: Callable[..., SyntheticRun]) -> SyntheticRun:
    made = made_up(runs_folder / "run", steps=600)
    made.grow(200)
    return made


def test_a_growing_run_is_drawn_keeps_its_zoom_and_obeys(
    run: SyntheticRun, runs_folder: Path, chromium: str
) -> None:
    with served(runs_folder) as address, page(chromium) as view:
        view.goto(address)
        at_step(view, 200)
        for kind in ("loss", "accuracy", "theta", "condition numbers", "attention map", "trajectories"):
            assert view.evaluate(INK, kind) > 300, kind
        assert all(view.evaluate(SWATCHES))
        width = view.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert width[0] <= width[1]

        loss = view.locator('[data-kind="loss"] canvas')
        loss.scroll_into_view_if_needed()
        box = loss.bounding_box()
        assert box is not None
        view.mouse.move(box["x"] + 100, box["y"] + 60)
        view.mouse.down()
        view.mouse.move(box["x"] + 200, box["y"] + 60, steps=4)
        view.mouse.up()
        reset = view.get_by_role("button", name="Reset zoom")
        expect(reset).to_be_visible()
        tip = view.locator('[data-kind="loss"] .acs-tip')
        expect(tip).to_contain_text("standard · held-out")
        hovered = tip.text_content()
        zoomed = view.evaluate(PICTURE)
        run.grow(300)
        at_step(view, 300)
        expect(reset).to_be_visible()
        assert tip.text_content() == hovered
        assert zoomed == view.evaluate(PICTURE)
        loss.dblclick(position={"x": 150, "y": 60})
        expect(reset).to_be_hidden()

        view.get_by_role("button", name="Pause or resume training").click()
        expect(view.locator(".acs-state")).to_have_text("Pausing…", timeout=1000)
        with RunControl(runs_folder / "run") as control:
            assert control.wish == "pause"
        run.grow(310, state="paused")
        expect(view.locator(".acs-state")).to_have_text("Paused")
        expect(view.get_by_role("button", name="Pause or resume training")).to_have_text("Resume")

        view.get_by_role("radio", name="conditioned-init").click()
        before = view.evaluate(INK, "attention map")
        assert before > 300
        view.get_by_role("button", name="About 1 - θ(p)").click()
        expect(view.locator(".acs-more:visible")).to_contain_text("Emadi")


def test_a_view_comes_back_by_itself_when_the_server_does(
    run: SyntheticRun, runs_folder: Path, chromium: str
) -> None:
    port = free_port()
    with page(chromium) as view:
        with served(runs_folder, port) as address:
            view.goto(address)
            at_step(view, 200)
        expect(view.locator(".acs-link")).to_contain_text("Connection lost")
        run.grow(260)
        with served(runs_folder, port):
            at_step(view, 260)
            expect(view.locator(".acs-link")).to_be_empty()


def test_a_recorded_run_plays_by_itself_and_can_be_stopped(
    run: SyntheticRun, runs_folder: Path, chromium: str
) -> None:
    run.grow(600)
    run.finish()
    with served(runs_folder) as address, page(chromium, color_scheme="dark") as view:
        view.goto(f"{address}/?mode=replay")
        at_step(view, 600)
        clock = view.locator(".acs-clock b")
        first = clock.text_content()
        view.wait_for_timeout(1500)
        assert clock.text_content() != first
        view.get_by_role("button", name="Pause").click()
        expect(view.get_by_role("button", name="Play")).to_be_visible()
        still = clock.text_content()
        view.wait_for_timeout(500)
        assert clock.text_content() == still
        view.get_by_role("slider").fill("600")
        expect(clock).to_have_text("step 600 of 600")


def test_motion_starts_by_itself_only_where_it_is_welcome(
    run: SyntheticRun, runs_folder: Path, chromium: str
) -> None:
    run.grow(600)
    run.finish()
    with served(runs_folder) as address, page(chromium, reduced_motion="reduce") as view:
        view.goto(f"{address}/?mode=replay")
        expect(view.locator(".acs-clock b")).to_have_text("step 600 of 600")
        expect(view.get_by_role("button", name="Replay")).to_be_visible()
