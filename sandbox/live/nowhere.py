"""Nowhere: what an address gets that leads to no page, since Streamlit would answer it with an empty one."""

import html
from urllib.parse import quote

from starlette.types import Scope, Send

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>No such page · Attention Conditioning Sandbox</title>
<style>
body {{ font: 16px/1.6 system-ui, sans-serif; margin: 12vh auto; max-width: 40rem; padding: 0 1.5rem; }}
@media (prefers-color-scheme: dark) {{
  body {{ background: #0e1117; color: #fafafa }}
  a {{ color: #8ab4f8 }}
}}
</style>
</head>
<body>
<h1>There is no page here</h1>
<p>The address <code>{path}</code> leads to no page of this server. Pages have one name, such as
<code>/sandbox</code>; what they show stands behind a question mark, such as
<code>/run?run=NAME</code>.</p>
<p><a href="/">Home</a> · <a href="/sandbox">Sandbox</a> · <a href="/gallery">Runs</a></p>
</body>
</html>
"""
LONGEST = 200


def is_nested(path: str) -> bool:
    """Whether the path has more than one name; all pages have one."""
    return "/" in path.strip("/")


def plain_page(path: str) -> bytes:
    """The page that says so, in HTML; `path` is a stranger's text."""
    return PAGE.format(path=html.escape(path[:LONGEST])).encode()


async def send_nowhere(path: str, send: Send) -> None:
    """Answer 404 with a page that says so and leads back."""
    body = plain_page(path)
    headers = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": 404, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def send_without_slash(scope: Scope, send: Send) -> None:
    """Lead from `/run/` to `/run`, where what the page loads is found, with what the address says."""
    query = bytes(scope.get("query_string", b""))
    # One slash at the start: two would name another server.
    place = quote("/" + scope["path"].strip("/")).encode() + (b"?" + query if query else b"")
    headers = [(b"location", place), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 308, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
