"""The hub asks the queue often just when it matters."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from sandbox.live.feed import Feed
from sandbox.live.hub import STATE_POLL, Channel
from tests.live.synthetic import SyntheticRun


def test_the_queue_is_asked_at_once_when_the_run_says_something_new(
    tmp_path: Path, made_up: Callable[..., SyntheticRun], feed_of: Callable[[Path], Feed]
) -> None:
    run = made_up(tmp_path / "run", arms=1)
    run.grow(20)
    asked: list[str] = []

    async def follow() -> tuple[int, int]:
        channel = Channel(feed_of(run.writer.path), lambda run_id: asked.append(run_id))
        try:
            await asyncio.sleep(2.5)  # what is new at first is old by then
            before = len(asked)
            await asyncio.sleep(2 * STATE_POLL)
            quiet = len(asked) - before
            run.grow(40, state="paused")
            before = len(asked)
            await asyncio.sleep(2 * STATE_POLL)
            return quiet, len(asked) - before
        finally:
            channel.close()

    quiet, after_news = asyncio.run(follow())
    assert quiet <= 3
    assert after_news >= 2 * quiet + 2
