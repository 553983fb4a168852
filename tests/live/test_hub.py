"""The hub asks the queue often just when it matters."""

import asyncio
import sqlite3
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


def test_the_hub_follows_a_run_on_whatever_its_database_or_the_queue_raises(
    tmp_path: Path, made_up: Callable[..., SyntheticRun], feed_of: Callable[[Path], Feed]
) -> None:
    folder = tmp_path / "run"
    run = made_up(folder, arms=1)
    run.grow(20)

    def busy(run_id: str) -> None:
        raise sqlite3.OperationalError("database is locked")

    def write(statement: str) -> None:
        with sqlite3.connect(folder / "run.sqlite") as connection:
            connection.execute(statement)
        connection.close()

    async def states() -> list[str]:
        channel = Channel(feed_of(folder), busy)
        try:
            found = []
            for statement in ("INSERT INTO meta VALUES ('odd', '{')", "DELETE FROM meta WHERE key = 'odd'"):
                write(statement)
                await asyncio.sleep(0.3)
                found.append(str(channel.feed.status["state"]))
            return found
        finally:
            channel.close()

    assert asyncio.run(states()) == ["failed", "running"]
