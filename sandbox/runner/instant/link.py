"""The link between the app and its instant worker: a socket that the app opens and the worker finds."""

import json
import select
import socket
import struct
from typing import Any

from sandbox.foundations.errors import RunUnavailable

HEAD = struct.Struct("<IIB")
"""Before each message of the worker: bytes that follow, the session that it is for, and its form."""
TEXT, BINARY = 0, 1
MOST_BYTES = 4 * 2**20
"""Of one message."""
PATIENCE = 10.0
"""Seconds in which the app must take what is sent to it."""


def abstract(address: str) -> str:
    """The socket's name as the kernel knows it: bound to no file, gone with the last who holds it (Linux)."""
    return f"\0{address}"


class Link:
    """The worker's end: lines of JSON come in, messages with a head go out."""

    def __init__(self, address: str, secret: str) -> None:
        """Connect and prove who started this; RunUnavailable where nobody listens any more."""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.connect(abstract(address))
            self._socket.settimeout(PATIENCE)
            self._socket.sendall(f"{secret}\n".encode())
        except OSError as fault:
            raise RunUnavailable(f"The app that asked for an instant worker is gone ({fault}).") from fault
        self._kept = b""
        self.open = True

    def heard(self, patience: float = 0.0) -> list[dict[str, Any]]:
        """What has come in, after at most `patience` seconds; `open` is False once the app has gone."""
        found: list[dict[str, Any]] = []
        while self.open and select.select([self._socket], [], [], 0.0 if found else patience)[0]:
            try:
                data = self._socket.recv(2**16)
            except OSError:
                data = b""
            self.open = bool(data)
            *lines, self._kept = (self._kept + data).split(b"\n")
            found += [json.loads(line) for line in lines]
            if len(self._kept) > MOST_BYTES:
                self.open = False
        return found

    def say(self, session: int, message: dict[str, Any], numbers: bytes | None = None) -> None:
        """Send JSON, with `numbers` behind it where there are some, to one session of the app."""
        text = json.dumps(message, separators=(",", ":"), allow_nan=False).encode()
        form = TEXT
        if numbers is not None:
            text += b" " * (-len(text) % 4)  # so that the numbers begin on a four-byte border
            text = struct.pack("<I", len(text)) + text + numbers
            form = BINARY
        try:
            self._socket.sendall(HEAD.pack(len(text), session, form) + text)
        except OSError:
            self.open = False

    def close(self) -> None:
        """Let go of the socket."""
        self._socket.close()
