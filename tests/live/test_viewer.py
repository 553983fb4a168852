"""The order of what a viewer is told: nothing arrives before the hello that explains it."""

import asyncio
import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.websockets import WebSocket

from sandbox.live.feed import Feed
from sandbox.live.hub import Channel
from sandbox.live.scales import Scales
from sandbox.live.tokens import Permission, Tokens
from sandbox.live.updates import Cursor, Selection, next_update
from sandbox.live.viewer import Viewer
from tests.live.synthetic import SyntheticRun


class Scene(WebSocket, Channel):
    """A channel and a socket in one, on which the world moves on each time that `when` is said."""

    def __init__(self, feed: Feed, when: str) -> None:
        self.feed, self.when, self.told, self.greeted = feed, when, list[str](), list[int]()
        self.scope = {}  # a socket is a mapping over its scope
        self.scales = Scales(feed)
        self.move: Callable[[], object] = feed.refresh

    def news(self) -> asyncio.Event:
        event = asyncio.Event()
        event.set()
        return event

    def next_update(
        self, cursor: Cursor, selection: Selection, sequence: int, budget: int
    ) -> tuple[bytes, Cursor]:
        return next_update(self.feed, cursor, selection, sequence, budget)

    async def send(self, message: dict[str, Any]) -> None:
        kind = "update" if "bytes" in message else str(json.loads(message["text"])["type"])
        if kind == "hello":
            self.greeted.append(len(json.loads(message["text"])["notes"]))
        self.told.append(kind)
        if kind == self.when:
            self.when = ""
            self.move()


def play(scene: Scene) -> None:
    """Let a viewer speak for a moment."""

    async def speak() -> None:
        viewer = Viewer(scene, scene, Permission("run"), Tokens("a secret"))
        viewer._started.set()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(viewer._push(), 0.5)

    asyncio.run(speak())


@pytest.fixture
def run(tmp_path: Path, made_up: Callable[..., SyntheticRun]) -> SyntheticRun:
    made = made_up(tmp_path / "run", arms=1)
    made.grow(40)
    return made


def test_a_run_that_becomes_ready_in_the_middle_of_a_turn_is_greeted_first(
    run: SyntheticRun, feed_of: Callable[[Path], Feed]
) -> None:
    scene = Scene(feed_of(run.writer.path), when="status")
    play(scene)
    assert "update" in scene.told
    assert scene.told.index("hello") < scene.told.index("update")


def test_what_changes_while_hello_is_said_is_greeted_again(
    run: SyntheticRun, feed_of: Callable[[Path], Feed]
) -> None:
    feed = feed_of(run.writer.path)
    feed.refresh()
    scene = Scene(feed, when="hello")

    def move() -> None:
        run.writer.describe(notes=["one", "two"])
        run.writer.commit()
        assert feed.refresh()

    scene.move = move
    play(scene)
    assert scene.greeted[-1] == 2
    assert scene.told.index("update") > 1
