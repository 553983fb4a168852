"""A press in the page arrives, whatever happens to its socket or its place; and a view keeps its nodes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, WebSocketRoute, expect

from sandbox.foundations.readings import PerHead
from sandbox.runner.control import RunControl
from tests.live.serving import served
from tests.live.synthetic import SyntheticRun

pytestmark = pytest.mark.e2e

PRESSES = 9
STANDING = """() => window.standing = [
  '.acs-live', '.acs-head', '.acs-buttons', '.acs-time', '.acs-panel[data-kind]',
].flatMap((name) => [...document.querySelectorAll(name)])"""
FALLEN = """() => window.standing.filter((node) => !node.isConnected)
  .map((node) => node.dataset.kind || node.className)"""
# Streamlit makes the place anew, or calls an earlier mount's end only after the next mount.
PLACED = """async ([script, token, how]) => {
  const { mount } = await import(script), root = document.querySelector('.acs-live');
  const parent = root.parentElement;
  const data = { run: 'run', token, mode: 'live', panels: null, height: null, address: '', shown: null };
  const leave = mount(parent, data);
  if (how === 'late') { window.leave = mount(parent, data); leave(); return; }
  leave();
  root.remove();
  parent.append(Object.assign(document.createElement('div'), { className: 'acs-live' }));
  if (how === 'slow') await new Promise((done) => setTimeout(done, 600));
  mount(parent, data);
}"""


class Watching:
    """The test page over a run of which the test is the trainer."""

    def __init__(self, page: Page, run: SyntheticRun, control: RunControl) -> None:
        self.page, self.run, self.control = page, run, control
        self.pause = page.get_by_role("button", name="Pause or resume training")
        self.state = page.locator(".acs-state")

    def at_step(self, step: int) -> None:
        self.page.wait_for_selector(f'.acs-live[data-step="{step}"]', timeout=30_000)

    def obeyed(self, wish: str) -> None:
        """Wait until the press has arrived, then say so as the trainer does."""
        for _ in range(600):
            if self.control.wish == wish:
                break
            self.page.wait_for_timeout(50)
        assert self.control.wish == wish
        self.run.grow(self.run.step + 5, state="paused" if wish == "pause" else "running")
        expect(self.state).to_have_text("Paused" if wish == "pause" else "Running", timeout=30_000)


@contextmanager
def watching(
    browser: Browser, runs: Path, run: SyntheticRun, **routes: Any
) -> Iterator[tuple[Watching, list[str]]]:
    """The page, and the addresses of the sockets it has opened."""
    errors: list[str] = []
    sockets: list[str] = []
    with served(runs) as address, RunControl(run.writer.path, create=True) as control:
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("websocket", lambda socket: sockets.extend([socket.url] * ("/live/ws/" in socket.url)))
        for pattern, handler in routes.items():
            page.route_web_socket(f"**/{pattern}/**", handler)
        page.goto(address)
        seen = Watching(page, run, control)
        seen.at_step(run.step)
        yield seen, sockets
        page.close()
    assert errors == []


@pytest.fixture
def run(runs_folder: Path, made_up: Any) -> SyntheticRun:
    made: SyntheticRun = made_up(runs_folder / "run", arms=2, steps=5000)
    made.grow(100)
    return made


def test_every_press_arrives_while_the_socket_is_cut_before_the_answer(
    run: SyntheticRun, runs_folder: Path, browser: Browser
) -> None:
    cuts = 0

    def cutting(client: WebSocketRoute) -> None:
        server = client.connect_to_server()

        def said(message: str | bytes) -> None:
            nonlocal cuts
            if '"command"' in str(message) and cuts % 3 < 2:  # the press is lost, or its answer is
                lost = cuts % 3 == 0
                cuts += 1
                if not lost:
                    server.send(message)
                client.close(code=1012)
                server.close()
                return
            cuts += '"command"' in str(message)
            server.send(message)

        client.on_message(said)

    with watching(browser, runs_folder, run, live=cutting) as (seen, _):
        seen.page.evaluate(STANDING)
        for n in range(PRESSES):
            seen.pause.click()
            seen.obeyed("pause" if n % 2 == 0 else "run")
        assert cuts >= PRESSES and seen.page.evaluate(FALLEN) == []


def test_a_press_over_a_socket_that_is_dead_without_being_closed_arrives(
    run: SyntheticRun, runs_folder: Path, browser: Browser
) -> None:
    sockets = 0

    def deaf(client: WebSocketRoute) -> None:
        nonlocal sockets
        sockets += 1
        first, server = sockets == 1, client.connect_to_server()
        client.on_message(lambda m: None if first and '"command"' in str(m) else server.send(m))

    with watching(browser, runs_folder, run, live=deaf) as (seen, _):
        seen.pause.click()
        expect(seen.state).to_have_text("Pausing…")
        seen.obeyed("pause")
        assert sockets == 2


def test_every_press_arrives_while_new_kinds_of_reading_come_and_nodes_stay(
    run: SyntheticRun, runs_folder: Path, browser: Browser
) -> None:
    with watching(browser, runs_folder, run) as (seen, _):
        seen.page.get_by_role("button", name="Training dynamics").click()
        seen.page.evaluate(STANDING)
        for n in range(PRESSES):
            names = ["gradient: all", "update: all"] + ["gradient: head"] * (n >= 4)
            columns = {name: np.full((3, 1, 1), 0.1 * n + 0.1) for name in names}
            run.writer.reading(run.step, 0, "gradient norms", PerHead(columns=columns, unit="norm"))
            run.writer.reading(run.step, 0, f"made up {n}", PerHead(columns=columns, unit="norm"))
            if n == 8:  # a panel that this run did not have before
                run.writer.scalars(0, "test_accuracy/depth/1", [run.step], np.full((1, 3), 0.5))
            run.writer.commit()
            seen.pause.click()
            seen.obeyed("pause" if n % 2 == 0 else "run")
        expect(seen.page.locator('[data-kind="accuracy by group"]')).to_have_count(1)
        assert seen.page.evaluate(FALLEN) == []


@pytest.mark.parametrize("how", ["late", "anew", "slow"])
def test_a_view_whose_place_is_made_anew_moves_in_and_goes_on(
    run: SyntheticRun, runs_folder: Path, browser: Browser, how: str
) -> None:
    with watching(browser, runs_folder, run) as (seen, sockets):
        page = seen.page
        script = page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)"
                               ".find((name) => name.includes('live.bundle.js'))")  # fmt: skip
        page.evaluate(STANDING)
        page.evaluate(PLACED, [script, sockets[0].partition("token=")[2], how])
        assert page.locator(".acs-live").count() == 1
        assert page.locator(".acs-live").get_attribute("data-step") == str(run.step)
        page.wait_for_timeout(2500)  # longer than a view without a place is kept
        seen.pause.click()
        seen.obeyed("pause")
        assert len(sockets) == 1 and page.evaluate(FALLEN) == []


def test_a_step_asked_for_before_the_history_is_here_is_shown_once_it_is(
    run: SyntheticRun, runs_folder: Path, browser: Browser
) -> None:
    held: list[tuple[WebSocketRoute, str | bytes]] = []

    def late(client: WebSocketRoute) -> None:
        server = client.connect_to_server()
        client.on_message(server.send)
        server.on_message(lambda message: held.append((client, message)))

    with served(runs_folder) as address:
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.route_web_socket("**/live/**", late)
        page.goto(address)
        field = page.get_by_role("spinbutton", name="Go to step")
        field.fill("40")
        field.press("Enter")
        for _ in range(200):
            if len(held) > 2:
                break
            page.wait_for_timeout(50)
        while held:
            client, message = held.pop(0)
            client.send(message)
            page.wait_for_timeout(50)
        page.wait_for_selector('.acs-live[data-step="100"]', timeout=30_000)
        expect(page.locator(".acs-viewing")).to_have_text("viewing step 40")
        page.close()
