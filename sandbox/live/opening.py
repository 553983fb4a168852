"""Opening: lets the page's own scripts, and Home's recorded run, start before Streamlit has."""

import html
import json
import re
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sandbox.live.nowhere import is_nested, send_nowhere, send_without_slash
from sandbox.live.routes import BUNDLE, STYLE, address_of

PLACE = "acs-opening"
"""Id of the element that stands in for the page; main.js and live.css know it too."""


@dataclass(frozen=True)
class Opening:
    """What a page shows until Streamlit does: its title, its first paragraph, and one live view's data."""

    title: str
    text: str
    view: MutableMapping[str, Any]


class EarlyPages:
    """ASGI middleware that completes Streamlit's empty page.

    Streamlit's start takes a browser most of a second, in which it would ask for nothing of ours. Here
    every page names our scripts and style sheet first, and pages in `openings` (by path) start their live
    view at once: it plays in a stand-in for the page, and moves into the page when its place is there. What
    would be an empty page because nothing lies at the address is answered with a sentence instead.
    """

    def __init__(self, app: ASGIApp, openings: MutableMapping[str, Callable[[], Opening | None]]) -> None:
        self.app = app
        self.openings = openings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or not _is_page(scope["path"]):
            await self.app(scope, receive, send)
            return
        if scope["path"].endswith("/") and scope["path"].strip("/"):
            await send_without_slash(scope, send)
            return
        plain = [pair for pair in scope["headers"] if pair[0].lower() not in CONDITIONAL]
        await self.app({**scope, "headers": plain}, receive, self._completing(scope["path"], send))

    def _completing(self, path: str, send: Send) -> Send:
        start: Message | None = None
        body = b""

        async def complete(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start":
                start = message if _is_html(message) else None
                if start is None:
                    await send(message)
                return
            if start is None or message["type"] != "http.response.body":
                await send(message)
                return
            body += message.get("body", b"")
            if message.get("more_body", False):
                return
            if is_nested(path):  # its scripts lie one level too high for such an address
                await send_nowhere(path, send)
                return
            whole = self._completed(path, body.decode()).encode()
            kept = [pair for pair in start.get("headers", []) if pair[0].lower() not in OUTDATED]
            now = [(b"content-length", str(len(whole)).encode()), (b"cache-control", b"no-cache")]
            await send({**start, "headers": kept + now})
            await send({"type": "http.response.body", "body": whole})

        return complete

    def _completed(self, path: str, page: str) -> str:
        make = self.openings.get(path)
        opening = make() if make else None
        page = page.replace("<head>", "<head>" + _links(), 1)
        if opening is None:
            return page
        start = STREAMLIT.search(page)
        then = "" if start is None else f'.then(() => import("{start["address"]}"))'
        page = page if start is None else page.replace(start[0], "", 1)
        return page.replace("<body>", "<body>" + _stand_in(opening, then), 1)


STREAMLIT = re.compile(r'<script type="module"[^>]* src="(?P<address>[\w./-]+)"></script>')
"""Streamlit's own start: 0.3 s of a browser's attention, which the first picture gets before it."""

CONDITIONAL = frozenset({b"if-none-match", b"if-modified-since", b"accept-encoding", b"range"})
"""Of a page we change neither a part nor a packed or remembered whole is of use."""

OUTDATED = frozenset({b"content-length", b"etag", b"last-modified", b"cache-control", b"accept-ranges"})


def _is_page(path: str) -> bool:
    """Pages have no dot in their last name and are none of the server's own routes."""
    return "." not in path.rpartition("/")[2] and not path.startswith(("/_stcore/", "/live/", "/static/"))


def _is_html(start: Message) -> bool:
    kind = dict(start.get("headers", [])).get(b"content-type", b"")
    return start["status"] == 200 and bytes(kind).startswith(b"text/html")


def _links() -> str:
    return (
        f'<link rel="modulepreload" href="./{address_of(BUNDLE)}">'
        f'<link rel="stylesheet" id="acs-live-style" href="./{address_of(STYLE)}">'
    )


def _stand_in(opening: Opening, then: str) -> str:
    # In a script element only "</" and "<!" could end the data; neither is left.
    data = json.dumps(opening.view).replace("<", "\\u003c")
    return (
        f'<div id="{PLACE}"><h1>{html.escape(opening.title)}</h1><p>{html.escape(opening.text)}</p>'
        '<div class="acs-live" data-state="waiting"></div></div>'
        f'<script type="module" async>import("./{address_of(BUNDLE)}").then((live) => live.open({data}))'
        # Whatever happens to our picture, the page itself starts.
        f'.catch(() => document.getElementById("{PLACE}").remove()){then};</script>'
    )
