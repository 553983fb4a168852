"""The live view's own routes: a run's websocket, and the scripts, whose address names their content."""

import hashlib
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from sandbox.foundations.errors import SandboxError
from sandbox.live.hello import ASSETS
from sandbox.live.hub import LINGER, Hub, StateOf
from sandbox.live.tokens import Tokens
from sandbox.live.viewer import Viewer

SCRIPTS = ASSETS / "live"
TYPES = {".js": "text/javascript", ".css": "text/css", ".json": "application/json"}
FOREVER = "public, max-age=31536000, immutable"
REFUSED = 4401
"""Close code of a socket whose token was refused; the client then asks for a reload instead of retrying."""


def live_routes(state_of: StateOf | None = None, linger: float = LINGER) -> list[BaseRoute]:
    """The routes to hand to the app.

    `state_of` is the queue's word on a run, where there is a queue; `linger` is for how many seconds a run
    stays open after its last viewer has left.
    """
    hub = Hub(state_of, linger)

    async def watch(socket: WebSocket) -> None:
        run_id = str(socket.path_params["run_id"])
        tokens = Tokens()
        try:
            permission = tokens.check(socket.query_params.get("token", ""), run_id)
            channel = hub.join(run_id)
        except SandboxError as refusal:
            # Accepted only to say why: a refusal before it reaches the page as a bare 403.
            await socket.accept()
            await socket.send_json({"type": "refused", "reason": str(refusal)})
            await socket.close(REFUSED)
            return
        try:
            await socket.accept()
            await Viewer(socket, channel, permission, tokens).serve()
        finally:
            hub.leave(run_id)

    return [
        WebSocketRoute("/live/ws/{run_id}", watch),
        Route("/live/static/{version}/{name}", _script, methods=["GET", "HEAD"]),
    ]


async def _script(request: Request) -> Response:
    name = str(request.path_params["name"])
    path = _files().get(name)
    if path is None:
        return PlainTextResponse("There is no such script.", 404)
    fresh = request.path_params["version"] == scripts_version()
    headers = {"cache-control": FOREVER if fresh else "no-store"}
    return FileResponse(path, media_type=TYPES[path.suffix], headers=headers)


@cache
def _files() -> dict[str, Path]:
    return {path.name: path for path in sorted(SCRIPTS.iterdir()) if path.suffix in TYPES}


@cache
def scripts_version() -> str:
    """A short hash of every script's content, part of their address, so that browsers keep them for good."""
    digest = hashlib.sha256()
    for name, path in _files().items():
        digest.update(name.encode() + path.read_bytes())
    return digest.hexdigest()[:12]
