"""The guard around the server: which hosts it answers for, who may open sockets, what is closed."""

import hmac
import os
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
METRICS, STREAM = "/_stcore/metrics", "/_stcore/stream"
HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?")

# Streamlit compiles components from blob: URLs and needs eval for its charts; nothing may come
# from, or go to, any other server.
POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "media-src 'self' data: blob:",
        "worker-src 'self' blob:",
        "connect-src 'self' blob: data:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'self'",
    )
)
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"SAMEORIGIN"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    (b"content-security-policy", POLICY.encode()),
)


def allowed_hosts(extra: Iterable[str] = ()) -> frozenset[str]:
    """The host names this server answers for: loopback, SANDBOX_ALLOWED_HOSTS (commas) and `extra`."""
    named = os.environ.get("SANDBOX_ALLOWED_HOSTS", "").split(",")
    return LOOPBACK | {name.strip().lower().strip("[]") for name in (*named, *extra) if name.strip()}


class Guard:
    """ASGI middleware that closes the server to web pages of other sites (DNS rebinding included).

    A rebound page reaches us under its own name, so every request's Host must be on the list;
    a page of another site names itself in Origin, so sockets and unsafe methods need an Origin
    that equals the Host, port included. Programs that are not browsers send no Origin.
    """

    def __init__(self, app: ASGIApp, allow_hosts: Iterable[str] = ()) -> None:
        self.app = app
        self.hosts = allowed_hosts(allow_hosts)
        self.metrics_token = os.environ.get("SANDBOX_METRICS_TOKEN", "")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refusal = self.refusal(scope)
        if refusal is not None:
            await _refuse(scope, send, *refusal)
        elif scope["type"] == "websocket":
            of_pages = scope["path"].rstrip("/").endswith(STREAM)
            await self.app(scope, _without_texts(receive) if of_pages else receive, send)
        else:
            await self.app(scope, receive, _with_headers(send))

    def refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Why the request is refused, as status and sentence; None where it may pass."""
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        host = _single(headers, b"host")
        name = host_name(host or "")
        if name is None or name not in self.hosts:
            return 403, (
                "This server does not answer for the host name in your request; open it under localhost, or "
                "start it with --allow-host NAME (or SANDBOX_ALLOWED_HOSTS) for the name you use."
            )
        needs_origin = scope["type"] == "websocket" or scope["method"] not in SAFE_METHODS
        if needs_origin and not _same_origin(headers, host or ""):
            return 403, "Another site's page may not use this server; open the app itself."
        if scope["path"].rstrip("/").endswith(METRICS) and not self._may_read_metrics(headers):
            return 404, "There is nothing here."
        return None

    def _may_read_metrics(self, headers: dict[bytes, list[bytes]]) -> bool:
        given = _single(headers, b"authorization") or ""
        wanted = f"Bearer {self.metrics_token}"
        return bool(self.metrics_token) and hmac.compare_digest(given.encode(), wanted.encode())


def host_name(host: str) -> str | None:
    """The name in a Host header without its port, small letters, no brackets; None where it is malformed."""
    match = HOST.fullmatch(host)
    return match.group(1).lower().strip("[]").rstrip(".") if match else None


def _single(headers: dict[bytes, list[bytes]], name: bytes) -> str | None:
    values = headers.get(name, [])
    return values[0].decode("latin-1") if len(values) == 1 else None


def _same_origin(headers: dict[bytes, list[bytes]], host: str) -> bool:
    if b"origin" not in headers:
        site = _single(headers, b"sec-fetch-site")
        return site in (None, "same-origin", "none")
    try:
        parts = urlsplit(_single(headers, b"origin") or "")
    except ValueError:  # brackets that close no address
        return False
    if parts.scheme not in ("http", "https"):
        return False
    # Behind a proxy the scheme we see may differ from the browser's; an absent port means the scheme's own.
    default = {"http": ":80", "https": ":443"}[parts.scheme]
    origin = parts.netloc.lower()
    return origin == host.lower() or origin + default == host.lower() or origin == host.lower() + default


def _without_texts(receive: Receive) -> Receive:
    """Ends a socket of pages at a frame of text: Streamlit's own are binary, and it would fall over one."""

    async def receive_bytes() -> Message:
        message = await receive()
        if message["type"] == "websocket.receive" and message.get("bytes") is None:
            return {"type": "websocket.disconnect", "code": 1003, "reason": ""}
        return message

    return receive_bytes


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message.get("headers", [])}
            extra = [pair for pair in HEADERS if pair[0] not in present]
            message = {**message, "headers": [*message.get("headers", []), *extra]}
        await send(message)

    return send_with_headers


async def _refuse(scope: Scope, send: Send, status: int, sentence: str) -> None:
    if scope["type"] == "websocket":
        # Closing before accepting makes the server answer 403.
        await send({"type": "websocket.close", "code": 1008, "reason": ""})
        return
    body = sentence.encode() + b"\n"
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        *HEADERS,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
