"""Train and watch: press Train, steer the run, leave, and come back to a complete picture."""

import pytest
from playwright.sync_api import WebSocket, expect

from sandbox.live.wire import RowsBlock, decode
from sandbox.store import open_run
from tests.browser.conftest import Open
from tests.browser.serving import LONG, App
from tests.browser.watching import Watched, say

pytestmark = pytest.mark.e2e

VISIBLE = 1000
"""Milliseconds; 300 is owed and measured by benchmarks/ui_costs.py, but a test machine may be busy."""


def test_train_draws_and_moves_and_every_picture_has_words(app: App, open_page: Open) -> None:
    watched = Watched(open_page(app.setup(LONG)))
    passed = watched.train()
    say(f"first picture {passed:.0f} ms after Train")
    watched.beyond(2)
    first = watched.step()
    watched.beyond(first)
    page = watched.page
    panels = page.locator(".acs-panel[data-kind]:not(.acs-section .acs-panel)")
    kinds = [panels.nth(i).get_attribute("data-kind") or "" for i in range(panels.count())]
    assert {"loss", "accuracy", "attention entropy", "theta", "condition numbers"} <= {*kinds}
    assert {"trajectories", "attention map"} <= {*kinds}
    for kind in kinds:
        panel = page.locator(f'.acs-panel[data-kind="{kind}"]')
        panel.scroll_into_view_if_needed()
        canvas = panel.locator("canvas")
        page.wait_for_function(
            '(kind) => document.querySelector(`[data-kind="${kind}"] table`).rows.length > 0', arg=kind
        )
        assert watched.ink(kind) > 300, kind
        assert len(canvas.get_attribute("aria-label") or "") > 30, kind
        table = page.locator(f"#{canvas.get_attribute('aria-describedby')}")
        assert "latest values" in (table.text_content() or ""), kind
        assert (panel.locator(".acs-sentence").text_content() or "").endswith("."), kind
    watched.press("stop", "^Stopped$")
    expect(page.get_by_text("Study the figures")).to_be_visible()
    assert app.ended(watched.run_id).state == "stopped"


def test_pause_step_resume_and_stop_are_seen_at_once(app: App, training: Watched) -> None:
    training.beyond(3)
    seen = training.press("pause", "^Paus")
    expect(training.state).to_have_text("Paused")
    assert seen < VISIBLE
    training.page.wait_for_timeout(500)
    resting = training.step()
    training.page.wait_for_timeout(700)
    assert training.step() == resting == app.queued(training.run_id).step

    seen_step = training.press("step", "^Stepping|^Paused$")
    training.beyond(resting)
    expect(training.state).to_have_text("Paused")
    assert training.step() == resting + 1
    assert seen_step < VISIBLE

    seen_resume = training.press("resume", "^Resuming|^Running$")
    training.beyond(resting + 2)
    seen_stop = training.press("stop", "^Stop")
    expect(training.state).to_have_text("Stopped")
    assert max(seen_resume, seen_stop) < VISIBLE
    times = {"pause": seen, "step": seen_step, "resume": seen_resume, "stop": seen_stop}
    say("seen after ms: " + ", ".join(f"{name} {time:.0f}" for name, time in times.items()))


def test_a_pause_takes_effect_while_the_page_is_watched(app: App, training: Watched) -> None:
    training.beyond(3)
    times = []
    for _ in range(3):
        times.append(training.press("pause", "^Paused$"))
        times.append(training.press("resume", "^Running$"))
    say("paused, running after ms: " + ", ".join(f"{time:.0f}" for time in times))
    assert sorted(times)[len(times) // 2] < 3 * VISIBLE


def test_a_closed_page_loses_nothing_and_its_link_brings_it_all_back(
    app: App, training: Watched, open_page: Open
) -> None:
    training.beyond(5)
    run_id, left_at = training.run_id, training.step()
    training.page.context.close()
    app.trained_to(run_id, left_at + 40)

    received: list[bytes] = []

    def listen(socket: WebSocket) -> None:
        if "/live/ws/" in socket.url:
            socket.on("framereceived", lambda data: isinstance(data, bytes) and received.append(data))

    back = Watched(open_page("about:blank"))
    back.page.on("websocket", listen)
    back.page.goto(app.run(run_id))
    back.beyond(left_at + 39)
    back.press("pause", "^Paused$")
    back.page.wait_for_timeout(1000)
    blocks = [block for data in received for block in decode(data).blocks if isinstance(block, RowsBlock)]
    evaluated = {int(step) for block in blocks for step in block.steps}
    with open_run(app.runs / run_id) as run:
        steps, _ = run.curve("test_loss", run.arms[0], run.seeds[0])
    assert len(steps) > 1
    assert {int(step) for step in steps} <= evaluated
    assert back.page.locator("table").filter(has_text="Held-out accuracy").count() == 1
