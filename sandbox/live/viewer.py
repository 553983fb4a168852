"""Viewer: one websocket; pushes what is new at a bounded pace, and passes on what its owner asks for."""

import asyncio
import contextlib
import logging
import sqlite3
import time
from typing import Any

import anyio
from starlette.websockets import WebSocket, WebSocketDisconnect

from sandbox.foundations.errors import RunUnavailable, SandboxError
from sandbox.live.asking import ask, give_up, progress
from sandbox.live.feed import DAMAGE
from sandbox.live.hello import hello
from sandbox.live.hub import Channel
from sandbox.live.json_text import json_text, request_in
from sandbox.live.selection import Selection
from sandbox.live.tokens import Permission, Tokens
from sandbox.live.updates import CATCH_UP_BUDGET, LIVE_BUDGET, Cursor
from sandbox.runner.control import MAX_STEPS, RunControl

RATE = 4.4
"""Updates a second on average: a little over the trainer's four, so that none ever waits for its turn."""
BURST = 2.0
IDLE = 5.0
SETTLING = 3.0
LONG_GAP = 1.5
"""Seconds: a viewer younger than the one, or unserved for longer than the other, gets more at once."""
WAITING_EVERY = 3.0
"""Seconds between words about when costly readings are due."""
ACK_PATIENCE = 10.0
"""Seconds after which a viewer that does not say it has drawn is sent the next update anyway."""
MENDING, LONGEST_MENDING = 0.25, 30.0
"""Seconds before a run whose recording could not be read is looked at again, at first and at most."""
LONGEST_NAME = 200
LAST_STEP = 2**31 - 1
log = logging.getLogger(__name__)
COMMANDS = ("pause", "resume", "step", "stop")
ASK, GIVE_UP = "diagnose", "cancel"
RESTED = ("paused", "stopped", "failed", "done")


class Viewer:
    """Serves one accepted socket until it closes."""

    def __init__(self, socket: WebSocket, channel: Channel, permission: Permission, tokens: Tokens) -> None:
        self.socket = socket
        self.channel = channel
        self.permission = permission
        self.tokens = tokens
        self.selection = Selection()
        self.cursor = Cursor()
        self._wanted: dict[str, Any] = {}
        self._started = asyncio.Event()
        self._asked = asyncio.Event()
        self._acked = asyncio.Event()
        self._sequence = 0
        self._n_stored = 0
        self._questions: list[dict[str, Any]] = []
        self._scales: dict[str, Any] = {}
        self._came = self._sent = time.monotonic()
        self._allowance = BURST
        self._counted = time.monotonic()

    async def serve(self) -> None:
        """Push and listen side by side; returns when the socket has closed."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._push)
            with contextlib.suppress(WebSocketDisconnect):
                await self._listen()
            tasks.cancel_scope.cancel()

    # ------------------------------------------------------------ what the viewer says
    async def _listen(self) -> None:
        while True:
            message = await self.socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            request = request_in(message.get("text"))
            if request is None:
                await self.socket.close(1003)
                return
            if "ack" in request and request["ack"] == self._sequence:
                self._acked.set()
            if "since" in request or "select" in request:
                self._wanted.update({k: request[k] for k in ("since", "select") if k in request})
                self._started.set()
                self._asked.set()
            if "command" in request:
                await self._command(request["command"], request)

    async def _command(self, command: object, request: dict[str, Any]) -> None:
        if command in (ASK, GIVE_UP):
            await self._question(str(command), request)
        if command not in COMMANDS:
            return
        n = request.get("n", 1)
        answer: dict[str, Any] = {"type": "command", "command": command, "done": False}
        press = request.get("press")
        named = isinstance(press, str) and len(press) <= LONGEST_NAME
        if named:
            answer["press"] = press
        if not self.permission.steer:
            answer["reason"] = "You are watching this run; only its owner can steer it."
        elif named and press in self.channel.presses:  # said again because its answer was lost
            answer["done"] = True
        else:
            try:
                with RunControl(self.channel.feed.folder) as control:
                    if command == "step":
                        control.step(_steps(n))
                    else:
                        {"pause": control.pause, "resume": control.resume, "stop": control.stop}[
                            str(command)
                        ]()
                answer["done"] = True
                if named:
                    self.channel.presses.append(str(press))
            except SandboxError as error:
                answer["reason"] = str(error)
        await self._tell(answer)

    async def _question(self, command: str, request: dict[str, Any]) -> None:
        """Ask for a costly reading, or give one up; the answer names the kind or the id that was meant."""
        named = {key: request.get(key) for key in ("kind", "step", "id")}
        said = {key: value if _can_be_named(value) else None for key, value in named.items()}
        answer: dict[str, Any] = {"type": "command", "command": command, "done": False, **said}
        if not self.permission.steer:
            answer["reason"] = "You are watching this run; only its owner can ask it."
        else:
            feed = self.channel.feed
            try:
                if command == ASK:
                    answer["id"] = await asyncio.to_thread(ask, feed, named["kind"], named["step"])
                else:
                    await asyncio.to_thread(give_up, feed, named["id"])
                answer["done"] = True
            except (SandboxError, sqlite3.Error) as error:
                answer["reason"] = str(error)
        await self._tell(answer)

    # ------------------------------------------------------------ what the viewer is sent
    async def _push(self) -> None:
        await self._started.wait()
        rest = MENDING
        while True:
            began = time.monotonic()
            try:
                await self._speak()
            except (
                sqlite3.OperationalError
            ) as fault:  # busy: what could not be read now can be a moment later
                log.warning("%s could not be read: %s", self.channel.feed.folder, fault)
            except DAMAGE as fault:  # found only now, in what this viewer looks at
                self.channel.feed.mark_damaged(fault)
                await self._tell({"type": "status", "status": self.channel.feed.status})
                await self._wait(self.channel.news(), LONGEST_MENDING)
            # A viewer that is told nothing more would take every press for lost; it starts afresh.
            rest = MENDING if time.monotonic() - began > LONGEST_MENDING else min(2 * rest, LONGEST_MENDING)
            await asyncio.sleep(rest)
            self.cursor = Cursor()

    async def _speak(self) -> None:
        feed = self.channel.feed
        meta = version = -1
        said: dict[str, Any] = {}
        lists: tuple[Any, ...] = ()
        told_at = 0.0
        happened: list[tuple[Any, ...]] = []
        n_happened = 0
        token_at = time.monotonic()
        while True:
            news = self.channel.news()
            if feed.ready and feed.meta_version != meta:
                # Where numbers of columns and kinds have moved the viewer starts afresh with the new lists.
                meta, version = feed.meta_version, -1
                if lists != (lists := (feed.columns(), feed.kinds(), feed.arms, feed.seeds)):
                    self.cursor = Cursor()
                await self._tell(hello(feed, steer=self.permission.steer))
            if feed.ready and feed.events != happened:
                # A run that went back to a checkpoint has fewer.
                whole, known = not happened or feed.n_events < n_happened, set(happened)
                told = [event for event in feed.events if whole or event not in known]
                happened, n_happened = feed.events, feed.n_events
                await self._tell({"type": "events", "events": told, "whole": whole, "n": n_happened})
            if feed.ready:
                await self._tell_what_can_be_asked()
            if self._asked.is_set() and feed.ready:
                self._asked.clear()
                self._take_up_wishes()
                version, self._allowance = -1, max(self._allowance, 1.0)
            status = feed.status | {"waiting": feed.waiting}  # step and seconds travel with every update
            news_of_it = any(said.get(word) != status.get(word) for word in ("state", "reason"))
            waits = said.get("waiting") != status["waiting"] and time.monotonic() - told_at > WAITING_EVERY
            if news_of_it or waits:
                told_at = time.monotonic()
                await self._tell({"type": "status", "status": status})
                if status.get("state") in RESTED and said.get("state") == "running":
                    self.cursor = Cursor()  # what was thinned on the way is sent whole once nothing moves
                said = status
            # The run may have become ready while we spoke: an update before its hello could not be read.
            fresh = feed.ready and feed.meta_version == meta and feed.version != version
            if fresh and self._allowed() >= 1.0:
                version = feed.version
                await self._send_update()
                continue
            if time.monotonic() - token_at > self.tokens.lifetime / 3:
                token_at = time.monotonic()
                await self._tell({"type": "token", "token": self.tokens.sign(self.permission)})
            await self._wait(news, (1.0 - self._allowance) / RATE if fresh else IDLE)

    async def _tell_what_can_be_asked(self) -> None:
        """New steps whose weights are stored, and how far the questions are."""
        feed, known = self.channel.feed, self._n_stored
        if len(feed.stored) > known:
            self._n_stored = len(feed.stored)
            await self._tell({"type": "stored", "from": known, "steps": feed.stored[known:]})
        if self._questions != (asked := progress(feed)):
            self._questions = asked
            await self._tell({"type": "questions", "questions": asked})

    def _take_up_wishes(self) -> None:
        feed = self.channel.feed
        if "select" in self._wanted:
            self.selection = Selection.read(self._wanted["select"], feed)
        since = self._wanted.get("since")
        if isinstance(since, int) and not isinstance(since, bool):
            self.cursor = Cursor.since(feed, min(since, LAST_STEP), self.selection)
        self._wanted.clear()

    async def _send_update(self) -> None:
        await self._send_scales()
        self._sequence += 1
        now = time.monotonic()
        settled = now - self._came > SETTLING and now - self._sent < LONG_GAP
        budget = LIVE_BUDGET if settled else CATCH_UP_BUDGET
        message, self.cursor = self.channel.next_update(self.cursor, self.selection, self._sequence, budget)
        self._sent = now
        self._acked.clear()
        await self._send({"type": "websocket.send", "bytes": message})
        self._allowance -= 1.0
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._acked.wait(), ACK_PATIENCE)

    async def _send_scales(self) -> None:
        """How far axes reach, before the pictures that need it; said again only where it has changed."""
        scales = self.channel.scales.look(self.selection.open)
        news = {kind: scale for kind, scale in scales.items() if self._scales.get(kind) != scale}
        if news:
            self._scales |= news
            await self._tell({"type": "scales", "scales": news})

    def _allowed(self) -> float:
        """Updates that may be sent now: earned at RATE, at most two saved up."""
        now = time.monotonic()
        self._allowance = min(BURST, self._allowance + (now - self._counted) * RATE)
        self._counted = now
        return self._allowance

    async def _wait(self, news: asyncio.Event, timeout: float) -> None:
        """Until the run or the viewer has something new, or the time is over."""
        events = (news, self._asked) if self.channel.feed.ready else (news,)
        tasks = [asyncio.ensure_future(event.wait()) for event in events]
        try:
            await asyncio.wait(tasks, timeout=max(timeout, 0.005), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()

    async def _tell(self, message: dict[str, Any]) -> None:
        await self._send({"type": "websocket.send", "text": json_text(message)})

    async def _send(self, message: dict[str, Any]) -> None:
        # A socket that closes while we speak is the listener's to notice; there is nobody to tell.
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            await self.socket.send(message)


def _steps(n: object) -> int:
    if type(n) is not int:
        raise RunUnavailable(f"{repr(n)[:40]} single steps were asked for; ask for 1 to {MAX_STEPS}.")
    return n


def _can_be_named(value: object) -> bool:
    """Whether an answer repeats it: a kind, an id or a step that some run could have."""
    if isinstance(value, str):
        return len(value) <= LONGEST_NAME
    return type(value) is int and 0 <= value <= LAST_STEP
