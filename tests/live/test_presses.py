"""No press is lost and none acts twice, whatever happens to the socket, the recording or the queue."""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from sandbox.live.feed import Feed
from sandbox.live.hub import Channel
from sandbox.runner.control import RunControl
from tests.live.synthetic import SyntheticRun
from tests.live.test_routes import address, answer_of, steering, until_update


def test_a_press_that_is_said_again_over_another_socket_acts_once(
    client: TestClient, run: SyntheticRun, runs_folder: Path
) -> None:
    with steering(client, runs_folder) as (control, staying):
        for press, granted in (("one", 1), ("one", 1), ("two", 2)):
            with client.websocket_connect(address(steer=True)) as socket:
                socket.send_json({"command": "step", "press": press})
                answer = answer_of(socket)
            assert answer == {"type": "command", "command": "step", "press": press, "done": True}
            assert control.granted == granted
        for junk in (5, None, "x" * 1000):  # no name: it acts, and is not repeated in the answer
            staying.send_json({"command": "step", "press": junk})
            assert "press" not in answer_of(staying)
        assert control.granted == 5


def test_a_press_that_failed_may_be_tried_again(client: TestClient, run: SyntheticRun) -> None:
    with client.websocket_connect(address(steer=True)) as socket:
        socket.send_json({"command": "pause", "press": "mine"})
        assert not answer_of(socket)["done"]  # nobody has made the control file
        with RunControl(run.writer.path, create=True) as control:
            socket.send_json({"command": "pause", "press": "mine"})
            assert answer_of(socket)["done"] and control.wish == "pause"


@pytest.mark.parametrize("fault", [sqlite3.OperationalError("database is locked"), KeyError("a reading")])
def test_a_viewer_is_told_what_follows_a_moment_in_which_the_run_could_not_be_read(
    client: TestClient, run: SyntheticRun, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    whole, left = Channel.next_update, [fault]

    def busy_once(self: Channel, *given: Any) -> Any:
        if given[2] > 1 and left:
            raise left.pop()
        return whole(self, *given)

    monkeypatch.setattr(Channel, "next_update", busy_once)
    with client.websocket_connect(address()) as socket:
        socket.send_json({"since": -1})
        until_update(socket)
        for step in (60, 80, 100):
            run.grow(step)
            time.sleep(0.4)
        while until_update(socket)[1].step < 100:
            pass
        assert not left


@pytest.mark.slow
def test_a_queue_that_answers_late_keeps_nobody_from_the_runs_news(
    tmp_path: Path, made_up: Callable[..., SyntheticRun], feed_of: Callable[[Path], Feed]
) -> None:
    run = made_up(tmp_path / "run", arms=1)
    run.grow(20)

    def late(run_id: str) -> dict[str, str]:
        time.sleep(3.0)
        return {"state": "running", "reason": "late"}

    async def follow() -> tuple[float, dict[str, Any] | None]:
        feed = feed_of(run.writer.path)
        channel = Channel(feed, late)
        try:
            while not feed.ready:
                await asyncio.sleep(0.02)
            await asyncio.sleep(1.0)  # it is being asked
            run.grow(40)
            began = time.monotonic()
            while feed.step < 40:
                await asyncio.sleep(0.01)
            waited = time.monotonic() - began
            while feed.queued_state is None:
                await asyncio.sleep(0.05)
            return waited, feed.queued_state
        finally:
            channel.close()

    waited, said = asyncio.run(follow())
    assert waited < 1.5 and said == {"state": "running", "reason": "late"}
