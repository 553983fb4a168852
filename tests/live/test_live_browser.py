"""The live view in Chromium: a growing run draws, keeps its zoom, obeys, comes back; a recorded one plays."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect, sync_playwright

from sandbox.figures.small_models import answers, sequence_embeddings
from sandbox.live.routes import scripts_version
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
PICTURES = """() => ['trajectories', 'attention map', 'loss'].map((kind) =>
  document.querySelector(`[data-kind="${kind}"] canvas`).toDataURL())"""
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
    RunControl(runs_folder / "run", create=True).close()  # as who makes a run does
    made.grow(200)
    return made


def test_a_growing_run_is_drawn_keeps_its_zoom_and_obeys(
    run: SyntheticRun, runs_folder: Path, chromium: str
) -> None:
    with served(runs_folder) as address, page(chromium) as view:
        view.goto(address)
        at_step(view, 200)
        for kind in ("loss", "accuracy", "theta", "condition numbers", "attention map", "trajectories"):
            view.locator(f'[data-kind="{kind}"]').scroll_into_view_if_needed()
            view.wait_for_function(f"(kind) => ({INK})(kind) > 300", arg=kind)
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
        with RunControl(runs_folder / "run", create=True) as control:
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
        clock = view.locator(".acs-viewing")
        first = clock.text_content()
        view.wait_for_timeout(1500)
        assert clock.text_content() != first
        play = view.locator(".acs-play")
        play.click()
        expect(play).to_have_text("Play")
        still = clock.text_content()
        view.wait_for_timeout(500)
        assert clock.text_content() == still
        view.get_by_role("slider").fill("600")
        expect(clock).to_have_text("viewing step 600")
        expect(view.get_by_text("trained to step 600 of 600")).to_be_visible()


def test_motion_starts_by_itself_only_where_it_is_welcome(
    run: SyntheticRun, runs_folder: Path, chromium: str
) -> None:
    run.grow(600)
    run.finish()
    with served(runs_folder) as address, page(chromium, reduced_motion="reduce") as view:
        view.goto(f"{address}/?mode=replay")
        expect(view.locator(".acs-viewing")).to_have_text("viewing step 600")
        expect(view.locator(".acs-play")).to_have_text("Replay")


def test_the_playhead_moves_every_panel_by_button_and_key_and_never_the_training(
    run: SyntheticRun, runs_folder: Path, chromium: str
) -> None:
    run.writer.event(133, "threshold", "test accuracy reached 98%", 1, 0)
    run.grow(200)
    with served(runs_folder) as address, page(chromium) as view:
        view.goto(address)
        at_step(view, 200)
        viewing, live = view.locator(".acs-viewing"), view.get_by_role("button", name="LIVE")
        expect(viewing).to_have_text("viewing step 200")
        before = view.evaluate(PICTURES)
        view.get_by_label("Go to step").fill("150")
        view.keyboard.press("Enter")
        expect(viewing).to_have_text("viewing step 140")
        expect(view.locator(".acs-time .acs-words")).to_contain_text("Asked 150, shown 140")
        after = view.evaluate(PICTURES)
        assert all(a != b for a, b in zip(before, after, strict=True))
        view.get_by_role("button", name="One recorded step back (←)").click()
        expect(viewing).to_have_text("viewing step 140")
        view.locator("[data-kind=trajectories] canvas").focus()
        view.keyboard.press("ArrowLeft")
        expect(viewing).to_have_text("viewing step 120")
        view.keyboard.press("e")
        expect(view.locator(".acs-time .acs-words")).to_contain_text(
            "threshold at step 133 (spectral:shift=0.5, seed 0)"
        )
        run.grow(260)
        at_step(view, 260)
        expect(view.get_by_text("trained to step 260 of 600")).to_be_visible()
        expect(viewing).to_have_text("viewing step 120")
        with RunControl(runs_folder / "run", create=True) as control:
            assert control.wish == "run"
        live.click()
        expect(viewing).to_have_text("viewing step 260")
        view.get_by_role("button", name="One recorded step forward (→)").click()
        view.keyboard.press("ArrowRight")
        expect(view.locator(".acs-state")).to_have_text("Running")
        with RunControl(runs_folder / "run", create=True) as control:
            assert control.wish == "run" and control.granted == 0


def test_a_panel_fills_the_screen_and_a_projector_shows_two_in_large_type(
    run: SyntheticRun, runs_folder: Path, chromium: str
) -> None:
    with served(runs_folder) as address, page(chromium) as view:
        view.goto(address)
        at_step(view, 200)
        view.get_by_role("radio", name="preconditioned").click()
        view.get_by_role("button", name="Fill the screen with Loss").click()
        box = view.locator("[data-kind=loss]").bounding_box()
        assert box is not None and box["width"] == 1366 and box["height"] == 768
        assert view.evaluate(INK, "loss") > 300
        filled = view.locator("[data-kind=loss]")
        expect(filled.locator(".acs-time .acs-words")).to_contain_text("trained to step 200")
        filled.get_by_role("button", name="One recorded step back (←)").click()
        expect(view.locator(".acs-viewing")).to_have_text("viewing step 180")
        view.keyboard.press("Escape")
        box = view.locator("[data-kind=loss]").bounding_box()
        assert box is not None and box["width"] < 700
        expect(view.get_by_role("radio", name="preconditioned")).to_be_checked()
        view.keyboard.press("?")
        expect(view.locator("dialog")).to_contain_text("Next event, previous event")
        view.keyboard.press("Escape")
        view.get_by_role("button", name="Projector").click()
        expect(view.locator(".acs-panel:visible")).to_have_count(2)
        small = view.evaluate("""() => [...document.querySelectorAll('.acs-live *')].filter((node) =>
          node.checkVisibility() && [...node.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) &&
          !node.closest('.acs-hidden') && parseFloat(getComputedStyle(node).fontSize) < 24)
          .map((node) => node.className + node.textContent)""")
        assert small == []
        assert view.evaluate("[document.querySelector('.acs-live').scrollWidth <= innerWidth]") == [True]
        view.keyboard.press("p")
        expect(view.locator(".acs-panel:visible")).to_have_count(8)
        view.wait_for_timeout(300)
        assert all(view.evaluate(SWATCHES))  # the arms' marks outlive being hidden


def test_the_visual_models_pictures_are_drawn_only_while_they_are_open(
    runs_folder: Path, made_up: Callable[..., SyntheticRun], chromium: str
) -> None:
    run = made_up(runs_folder / "run", arms=1, seeds=1, visual=True, steps=600)
    run.grow(200)
    with served(runs_folder) as address, page(chromium) as view:
        view.goto(address)
        at_step(view, 200)
        sections = view.locator(".acs-unfold")
        expect(sections).to_have_count(9)
        for section in sections.all():
            if section.get_attribute("aria-expanded") == "false":
                section.click()
        for kind in ("token embeddings", "E + P", "attention rows", "level lines", "assemblers", "answers"):
            view.locator(f'[data-kind="{kind}"]').scroll_into_view_if_needed()
            view.wait_for_function(f"(kind) => ({INK})(kind) > 300", arg=kind)
        view.locator('[data-kind="sequence embeddings"] canvas').press("Enter")
        tips = view.locator(".acs-section .acs-tip:visible")
        expect(tips.first).to_contain_text("class")
        assert tips.count() >= 2  # what is pinned in one picture is marked in all that show it
        view.keyboard.press("Escape")
        expect(tips).to_have_count(0)
        view.get_by_label("Your sequence").fill("1 0 1 1 0 0 0 0 0 0 0 0")
        expect(view.locator(".acs-probe .acs-said")).to_contain_text("answer")
        view.get_by_label("Your sequence").fill("1 0 7")
        expect(view.locator(".acs-probe .acs-said")).to_contain_text("“7” is no token")


WORKED_OUT = """async ([address, values, meta]) => {
  const { VisualModel } = await import(address);
  const model = new VisualModel({ values: Float32Array.from(values) }, meta);
  return model.look(meta.tokens).map(({ row, xi, p }) => ({ row, xi, p }));
}"""


def test_the_browser_works_the_visual_model_out_as_numpy_does(
    run: SyntheticRun, runs_folder: Path, chromium: str
) -> None:
    reading = run.visual_weights(0.4)
    w = {name: values[0] for name, values in reading.weights().items()}
    xi, rows = sequence_embeddings(w, np.array(reading.tokens))
    with served(runs_folder) as address, page(chromium) as view:
        view.goto(address)
        script = f"{address}/live/static/{scripts_version()}/visual.js"
        found = view.evaluate(WORKED_OUT, [script, reading.values[0].astype(float).tolist(), reading.meta()])
    assert np.array([look["row"] for look in found]) == pytest.approx(rows, abs=1e-6)
    assert np.array([look["xi"] for look in found]) == pytest.approx(xi, abs=1e-6)
    assert np.array([look["p"] for look in found]) == pytest.approx(answers(w, xi), abs=1e-5)
