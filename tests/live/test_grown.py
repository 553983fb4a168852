"""A picture that grew update by update looks like one drawn at once, and costs the new stretch alone."""

import base64
import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page

from tests.live.reference import apart
from tests.live.synthetic import SyntheticRun
from tests.live.test_presses_browser import watching

pytestmark = pytest.mark.e2e

COUNTED = """() => {
  const kind = CanvasRenderingContext2D.prototype, own = kind.lineTo;
  window.lines = 0;
  kind.lineTo = function (...given) { window.lines++; return own.apply(this, given); };
}"""
PICTURE = '(kind) => document.querySelector(`[data-kind="${kind}"] canvas`).toDataURL()'
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def picture(page: Page, kind: str) -> Image.Image:
    data = str(page.evaluate(PICTURE, kind))
    return Image.open(io.BytesIO(base64.b64decode(data.partition(",")[2]))).convert("RGB")


def lines(page: Page) -> int:
    page.wait_for_timeout(700)
    return int(page.evaluate("() => { const n = window.lines; window.lines = 0; return n; }"))


def test_a_picture_that_grew_is_that_which_is_drawn_at_once(
    runs_folder: Path, made_up: Any, browser: Browser
) -> None:
    run: SyntheticRun = made_up(runs_folder / "run", steps=1000, nan_at=460)
    run.grow(360)
    with watching(browser, runs_folder, run) as (seen, _):
        page = seen.page
        page.set_viewport_size({"width": 1366, "height": 1500})
        for step in (400, 420, 440, 460, 480, 495):
            run.grow(step)
            seen.at_step(step)
        page.evaluate(COUNTED)
        lines(page)
        run.grow(500)
        seen.at_step(500)
        grown, kinds = lines(page), ("loss", "accuracy", "attention entropy", "theta", "condition numbers")
        pictures = {kind: picture(page, kind) for kind in kinds}
        eye = page.get_by_role("button", name="Show standard on the curves")
        for _ in range(2):  # what is shown is drawn from the start
            lines(page)
            eye.click()
            page.evaluate(DRAWN)
        whole = lines(page)
        assert 0 < grown < whole / 2
        for kind in kinds:
            mean, far = apart(pictures[kind], picture(page, kind))
            assert mean < 1 and far < 0.004, (kind, mean, far)
