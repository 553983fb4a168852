"""While a run plays, its step box, its words and its way onward name one step: that of the pictures."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.live.serving import served
from tests.live.synthetic import SyntheticRun
from tests.live.test_live_browser import at_step

pytestmark = pytest.mark.e2e

NAMED = """() => { const view = document.querySelector('.acs-live');
  const of = (text) => Number(text.replace(/[^0-9]/g, ''));
  return [of(view.querySelector('.acs-step').value), of(view.querySelector('.acs-viewing').textContent),
    of(view.querySelector('.acs-onward').textContent)]; }"""
WATCH = f"""() => {{ window.named = []; const read = {NAMED};
  document.querySelector('.acs-live').addEventListener('acs-drawn', () => window.named.push(read())); }}"""


def test_every_painted_frame_of_a_replay_names_one_step_and_so_does_a_hold(
    runs_folder: Path, made_up: Callable[..., SyntheticRun], browser: Browser
) -> None:
    run = made_up(runs_folder / "run", steps=400)
    run.grow(400)
    run.finish()
    with served(runs_folder) as address:
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.goto(address)
        at_step(page, 400)
        page.evaluate(WATCH)
        page.locator(".acs-play").click()
        page.wait_for_timeout(3000)
        page.locator(".acs-play").click()
        expect(page.locator(".acs-play")).to_have_text("Play")
        frames, held = page.evaluate("window.named"), page.evaluate(NAMED)
        playing = [frame for frame in frames if frame[2]]  # at the end the way onward names no step
        assert len({frame[0] for frame in playing}) > 3, frames
        assert [frame for frame in [*playing, held] if len(set(frame)) > 1] == []
        page.close()
