"""Instant: the app's side of instant mode: pages on one side, the worker that trains on the other."""

import asyncio
import contextlib
import hmac
import json
import logging
import secrets
import time
from collections.abc import Callable
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from sandbox.foundations.errors import InvalidKnob, RunUnavailable, SandboxError
from sandbox.foundations.kernels import found_build
from sandbox.live.instant_page import BEHIND, Page
from sandbox.live.json_text import request_in
from sandbox.live.tokens import Permission, Tokens
from sandbox.runner.instant.asking import ask_for_worker
from sandbox.runner.instant.knobs import check_knobs
from sandbox.runner.instant.link import HEAD, MOST_BYTES, TEXT, abstract

MOST_PAGES = 24
"""Pages for which one app trains; they take turns of a few milliseconds."""
COME_WITHIN = 20.0
"""Seconds that a worker has to come."""
SPEAK_WITHIN = 5.0
"""Seconds in which whoever comes has to say the secret."""
LEAST_GAP = 0.004
"""Seconds between two requests of one page that are taken up: nobody turns a knob faster."""
MOST_SEEDS = 128
CLOSE_WITHIN = 2.0
"""Seconds in which a page takes the code that it is closed with."""
JUNK = 1003
LAST_NUMBER = 2**31

Deliver = Callable[[int, int, bytes], None]

log = logging.getLogger(__name__)


def instant_name(session: str) -> str:
    """What a token names that allows to train at once, in one browser session."""
    return f"instant:{session}"


class Trainer:
    """The instant worker: asked for when there is something to train, and again where it has ended."""

    def __init__(self, deliver: Deliver, lost: Callable[[], None]) -> None:
        self._deliver, self._lost = deliver, lost
        self._writer: asyncio.StreamWriter | None = None
        self._coming = asyncio.Lock()
        self._arrived: asyncio.Future[None] | None = None

    async def say(self, message: dict[str, Any]) -> None:
        """Send a message; RunUnavailable where no worker comes."""
        async with self._coming:
            if self._writer is None:
                await self._call()
        writer = self._writer
        if writer is not None:
            writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
            with contextlib.suppress(OSError):
                await writer.drain()

    def mention(self, message: dict[str, Any]) -> None:
        """Send a message if there is a worker; it matters to nobody else."""
        if self._writer is not None:
            self._writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    async def _call(self) -> None:
        """Wait at a socket of our own until a worker has come to it and said the secret."""
        address, secret = f"sandbox-instant-{secrets.token_hex(12)}", secrets.token_hex(24)
        self._arrived = asyncio.get_running_loop().create_future()

        async def met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            said = b""
            with contextlib.suppress(TimeoutError, ValueError, OSError):  # silent, endless, or gone
                said = await asyncio.wait_for(reader.readline(), SPEAK_WITHIN)
            if self._arrived is None or self._arrived.done():
                writer.close()
            elif hmac.compare_digest(said.strip(), secret.encode()):
                self._writer = writer
                self._arrived.set_result(None)
                await self._listen(reader, writer)
            else:
                writer.close()

        server = await asyncio.start_unix_server(met, abstract(address))
        try:
            await asyncio.to_thread(ask_for_worker, address, secret)
            await asyncio.wait_for(asyncio.shield(self._arrived), COME_WITHIN)
        except TimeoutError as fault:
            raise RunUnavailable(
                f"The trainer did not come within {COME_WITHIN:g} s; the machine is very busy, try again."
            ) from fault
        finally:
            self._arrived = None
            server.close()

    async def _listen(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                length, session, form = HEAD.unpack(await reader.readexactly(HEAD.size))
                if length > MOST_BYTES:
                    break
                self._deliver(session, form, await reader.readexactly(length))
        except (asyncio.IncompleteReadError, OSError):
            log.info("the instant worker has ended")
        finally:
            writer.close()
            self._writer = None
            self._lost()


class Instants:
    """All Instant pages of this app, and the worker that they share."""

    def __init__(self) -> None:
        self._pages: dict[int, Page] = {}
        self._of_session: dict[str, Page] = {}
        self._numbers = 0
        self._trainer = Trainer(self._deliver, self._worker_lost)
        self._again: set[asyncio.Task[None]] = set()

    async def serve(self, socket: WebSocket, session: str, permission: Permission, tokens: Tokens) -> None:
        """Serve an accepted socket until it closes; a newer one of the same browser session ends it."""
        older = self._of_session.pop(session, None)
        if older is not None:
            older.tell(
                {"type": "refused", "reason": "This page went on in another tab; reload to take over."}
            )
            older.put({"type": "websocket.close", "code": 1000})
        elif len(self._pages) >= MOST_PAGES:
            reason = f"{MOST_PAGES} pages train already, as many as this app serves; try again in a while."
            await socket.send_json({"type": "refused", "reason": reason})
            return
        self._numbers += 1
        page = Page(self._numbers, socket)
        self._pages[page.number] = self._of_session[session] = page
        ends = [
            asyncio.create_task(end)
            for end in (self._listen(page), self._send(page, permission, tokens), page.behind.wait())
        ]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            junk = ends[0].done() and ends[0].result()
            for end in ends:  # nothing else speaks any more: the code is the last that the page hears
                end.cancel()
            await asyncio.wait(ends)
            if junk or page.behind.is_set():
                code = JUNK if junk else BEHIND
                with contextlib.suppress(TimeoutError, WebSocketDisconnect, RuntimeError, OSError):
                    await asyncio.wait_for(socket.close(code), CLOSE_WITHIN)
        finally:
            for end in ends:
                end.cancel()
            del self._pages[page.number]
            if self._of_session.get(session) is page:
                del self._of_session[session]
            self._trainer.mention({"session": page.number, "do": "leave"})

    # ------------------------------------------------------------ from the pages
    async def _listen(self, page: Page) -> bool:
        """Pass on what the page says until it has gone; True where it was junk."""
        with contextlib.suppress(WebSocketDisconnect):
            while True:
                message = await page.socket.receive()
                if message["type"] == "websocket.disconnect":
                    return False
                request = request_in(message.get("text"))
                if request is None:
                    return True
                try:
                    await self._pass_on(page, request)
                except SandboxError as refusal:
                    page.tell({"type": "refused", "id": _number(request), "reason": str(refusal)})
                await asyncio.sleep(LEAST_GAP)
        return False

    async def _pass_on(self, page: Page, request: dict[str, Any]) -> None:
        what = request.get("do")
        if what in ("ack", "cancel"):
            self._trainer.mention({"session": page.number, "do": what})
        elif what == "seed":
            seed = _whole(request.get("seed"), "The seed", MOST_SEEDS)
            if page.wish is not None:
                page.wish["seed"] = seed
            self._trainer.mention({"session": page.number, "do": "seed", "seed": seed})
        elif what in ("train", "histogram"):
            number = _whole(request.get("id"), "The request's number", LAST_NUMBER)
            knobs = check_knobs(request.get("knobs"))
            why = found_build()[1]
            if why:
                raise RunUnavailable(f"Nothing is trained at once here: {why}.")
            wish = {"session": page.number, "do": what, "id": number, "knobs": knobs}
            if what == "train":
                wish["seed"] = _whole(request.get("seed", 0), "The seed", MOST_SEEDS)
                page.wish = wish
            await self._trainer.say(wish)
        else:
            raise InvalidKnob(f"There is nothing to do under the name {str(what)[:40]!r}.")

    # ------------------------------------------------------------ from the worker
    def _deliver(self, session: int, form: int, payload: bytes) -> None:
        page = self._pages.get(session)
        if page is not None:
            page.tried = 0
            part: dict[str, Any] = {"text": payload.decode()} if form == TEXT else {"bytes": payload}
            page.put({"type": "websocket.send", **part})

    def _worker_lost(self) -> None:
        """The worker has ended: ask for another one where a page still waits, once each."""
        for page in self._pages.values():
            if page.wish is None:
                continue
            if page.tried:
                page.wish = None
                page.tell({"type": "refused", "reason": "The trainer ended twice; turn a knob to try again."})
                continue
            page.tried += 1
            page.tell({"type": "lost", "reason": "The trainer ended and begins again."})
            task = asyncio.create_task(self._resume(page))
            self._again.add(task)
            task.add_done_callback(self._again.discard)

    async def _resume(self, page: Page) -> None:
        if page.wish is not None:
            try:
                await self._trainer.say(page.wish)
            except SandboxError as refusal:
                page.tell({"type": "refused", "reason": str(refusal)})

    # ------------------------------------------------------------ to the pages
    async def _send(self, page: Page, permission: Permission, tokens: Tokens) -> None:
        renewed = time.monotonic()
        with contextlib.suppress(WebSocketDisconnect, RuntimeError, OSError):
            while True:
                with contextlib.suppress(TimeoutError):
                    message = await asyncio.wait_for(page.next(), tokens.lifetime / 3)
                    await page.socket.send(message)
                if time.monotonic() - renewed > tokens.lifetime / 3:
                    renewed = time.monotonic()
                    page.tell({"type": "token", "token": tokens.sign(permission)})


def _whole(value: object, what: str, below: int) -> int:
    if type(value) is not int or not 0 <= value < below:
        raise InvalidKnob(f"{what} is {repr(value)[:40]}; it must be a whole number from 0 to {below - 1}.")
    return value


def _number(request: dict[str, Any]) -> int | None:
    """The number that a refusal names; None where the request has none that could be one."""
    number = request.get("id")
    return number if type(number) is int and 0 <= number < LAST_NUMBER else None
