"""Made-up runs and feeds that are closed after the test."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from sandbox.live.feed import Feed
from tests.live.synthetic import SyntheticRun


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
