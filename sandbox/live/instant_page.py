"""One open Instant page as the app sees it: its newest wish, and a bounded outbox."""

import asyncio
from typing import Any

from starlette.websockets import WebSocket

from sandbox.live.json_text import json_text

MOST_WAITING = 4 * 2**20
"""Bytes that wait for a page; with more it has fallen behind, and what waits is let go."""
MOST_MESSAGES = 200
BEHIND = 1013
"""The code with which a page that does not read is closed; it comes again and says its wish anew."""


class Page:
    """What waits to be sent to a page, and what it wants.

    Messages follow one another, so that none of them can be left out: a page that does not read is closed.
    """

    def __init__(self, number: int, socket: WebSocket) -> None:
        self.number, self.socket = number, socket
        self.wish: dict[str, Any] | None = None
        """The newest curves that were asked for, for a worker that has to begin again."""
        self.tried = 0
        self.behind = asyncio.Event()
        """Set once it reads too slowly; nothing is kept for it any more."""
        self._outbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.waiting = 0
        """Bytes in the outbox."""

    def tell(self, message: dict[str, Any]) -> None:
        """Send JSON."""
        self.put({"type": "websocket.send", "text": json_text(message)})

    def put(self, message: dict[str, Any]) -> None:
        """Queue an event of the socket."""
        if self.behind.is_set():
            return
        if self.waiting >= MOST_WAITING or self._outbox.qsize() >= MOST_MESSAGES:
            self.behind.set()
            while not self._outbox.empty():
                self._outbox.get_nowait()
            self.waiting = 0
            return
        self.waiting += _size(message)
        self._outbox.put_nowait(message)

    async def next(self) -> dict[str, Any]:
        """The oldest event that waits to be sent."""
        message = await self._outbox.get()
        self.waiting -= _size(message)
        return message


def _size(message: dict[str, Any]) -> int:
    return len(message.get("text", "")) + len(message.get("bytes", b""))
