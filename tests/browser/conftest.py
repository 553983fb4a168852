"""One app and one Chromium for all tests of this folder; every test has a page of its own."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from sandbox.runner import queue
from tests.browser.serving import LONG, SHORT, App
from tests.browser.watching import Watched
from tests.live.serving import FLAGS

Open = Callable[..., Page]

PATIENCE = 40_000
"""Milliseconds that a page has for what it owes; wide, because test machines are busy."""


@pytest.fixture(scope="package")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The served app."""
    served = App(tmp_path_factory.mktemp("served"))
    try:
        served.wait()
        yield served
    finally:
        served.close()


@pytest.fixture(autouse=True)
def runs_folder(app: App, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The app's runs folder, instead of one for each test."""
    monkeypatch.setenv("SANDBOX_RUNS", str(app.runs))
    return app.runs


@pytest.fixture(scope="package")
def browser(chromium: str) -> Iterator[Browser]:
    """Chromium."""
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=chromium, args=FLAGS)


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Opens pages, each in a context of its own; an error in any of their scripts fails the test."""
    expect.set_options(timeout=PATIENCE)
    errors: list[str] = []
    contexts = []

    def open_it(address: str, **options: Any) -> Page:
        context = browser.new_context(**({"viewport": {"width": 1366, "height": 768}} | options))
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        return page

    yield open_it
    expect.set_options(timeout=5000)
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture(scope="package")
def finished(app: App) -> str:
    """A run that is done, and that nothing disturbed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SANDBOX_RUNS", str(app.runs))
        run_id = queue.enqueue(queue.check(SHORT)["plain"], "local")
        assert app.ended(run_id).state == "done"
    return run_id


@pytest.fixture
def training(app: App, open_page: Open) -> Iterator[Watched]:
    """A page on which Train was pressed a moment ago; the run is stopped after the test."""
    watched = Watched(open_page(app.setup(LONG)))
    watched.train()
    yield watched
    queue.stop(watched.run_id)
    app.ended(watched.run_id)
