"""Made-up runs, feeds, a served run and a browser, closed after the test."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from starlette.applications import Starlette
from starlette.testclient import TestClient

from sandbox.live.feed import Feed
from sandbox.live.routes import live_routes
from tests.live.synthetic import SyntheticRun
from tests.live.watched_canvas import launched


@pytest.fixture
def made_up() -> Iterator[Callable[..., SyntheticRun]]:
    """Makes runs: `made_up(folder, arms=2, ...)`."""
    with ExitStack() as stack:

        def make(folder: Path, **sizes: int) -> SyntheticRun:
            run = SyntheticRun(folder, **sizes)
            stack.callback(run.writer.close)
            return run

        yield make


@pytest.fixture
def feed_of() -> Iterator[Callable[[Path], Feed]]:
    """Makes feeds of run folders."""
    with ExitStack() as stack:

        def make(folder: Path) -> Feed:
            feed = Feed(folder.name, folder)
            stack.callback(feed.close)
            return feed

        yield make


@pytest.fixture
def run(runs_folder: Path, made_up: Callable[..., SyntheticRun]) -> SyntheticRun:
    """A run "made-up" of two arms at step 40, which `client` serves."""
    made = made_up(runs_folder / "made-up", arms=2)
    made.grow(40)
    return made


@pytest.fixture
def client() -> Iterator[TestClient]:
    """A client of the live routes."""
    with TestClient(Starlette(routes=live_routes(linger=0)), base_url="http://localhost") as made:
        yield made


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """Chromium, for the tests of one file."""
    with launched(chromium) as found:
        yield found
