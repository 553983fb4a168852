"""The live view's own routes: a run's websocket, and what it loads, whose address names its content."""

import hashlib
from functools import cache

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from sandbox.foundations.errors import SandboxError
from sandbox.live.bundle import bundled
from sandbox.live.hello import ASSETS
from sandbox.live.hub import LINGER, Hub, StateOf
from sandbox.live.instant import Instants, instant_name
from sandbox.live.tokens import Tokens
from sandbox.live.viewer import Viewer

SCRIPTS, INSTANT_SCRIPTS = ASSETS / "live", ASSETS / "instant"
ENTRY, BUNDLE, STYLE = "main.js", "live.bundle.js", "live.css"
INSTANT_ENTRY, INSTANT_BUNDLE = "instant.js", "instant.bundle.js"
"""Instant mode's own scripts with what it needs of the live view's: a bundle that Home never fetches."""
TYPES = {".js": "text/javascript", ".css": "text/css", ".json": "application/json"}
FOREVER = "public, max-age=31536000, immutable"
REFUSED = 4401
"""Close code of a socket whose token was refused; the client then asks for a reload instead of retrying."""


def live_routes(state_of: StateOf | None = None, linger: float = LINGER) -> list[BaseRoute]:
    """The routes to hand to the app.

    `state_of` is the queue's word on a run, where there is a queue; `linger` is for how many seconds a run
    stays open after its last viewer has left.
    """
    hub, instants = Hub(state_of, linger), Instants()

    async def watch(socket: WebSocket) -> None:
        run_id = str(socket.path_params["run_id"])
        tokens = Tokens()
        try:
            permission = tokens.check(socket.query_params.get("token", ""), run_id)
            channel = hub.join(run_id)
        except SandboxError as refusal:
            await _refuse(socket, refusal)
            return
        try:
            await socket.accept()
            await Viewer(socket, channel, permission, tokens).serve()
        finally:
            hub.leave(run_id)

    async def train(socket: WebSocket) -> None:
        session, tokens = str(socket.path_params["session"]), Tokens()
        try:
            permission = tokens.check(socket.query_params.get("token", ""), instant_name(session))
        except SandboxError as refusal:
            await _refuse(socket, refusal)
            return
        await socket.accept()
        await instants.serve(socket, session, permission, tokens)

    return [
        WebSocketRoute("/live/ws/{run_id}", watch),
        WebSocketRoute("/live/instant/{session}", train),
        Route("/live/static/{version}/{name}", _script, methods=["GET", "HEAD"]),
    ]


async def _refuse(socket: WebSocket, refusal: SandboxError) -> None:
    """Accept only to say why: a refusal before it would reach the page as a bare 403."""
    await socket.accept()
    await socket.send_json({"type": "refused", "reason": str(refusal)})
    await socket.close(REFUSED)


async def _script(request: Request) -> Response:
    found = loaded().get(str(request.path_params["name"]))
    if found is None:
        return PlainTextResponse("There is no such script.", 404)
    fresh = request.path_params["version"] == scripts_version()
    headers = {"cache-control": FOREVER if fresh else "no-store"}
    return Response(found[0], media_type=found[1], headers=headers)


@cache
def loaded() -> dict[str, tuple[bytes, str]]:
    """Content and media type by file name: style sheets, scripts, and the scripts of a view as one."""
    folders = (SCRIPTS, INSTANT_SCRIPTS)
    paths = [path for folder in folders for path in sorted(folder.iterdir()) if path.suffix in TYPES]
    found = {path.name: (path.read_bytes(), TYPES[path.suffix]) for path in paths}
    scripts = {name: content.decode() for name, (content, _) in found.items() if name.endswith(".js")}
    bundles = {BUNDLE: ENTRY, INSTANT_BUNDLE: INSTANT_ENTRY}
    return found | {n: (bundled(scripts, entry).encode(), TYPES[".js"]) for n, entry in bundles.items()}


@cache
def scripts_version() -> str:
    """A short hash of all that is loaded, part of its address, so that browsers keep it for good."""
    digest = hashlib.sha256()
    for name, (content, _) in loaded().items():
        digest.update(name.encode() + content)
    return digest.hexdigest()[:12]


def address_of(name: str) -> str:
    """Where a page of the app finds one of the files that are `loaded`, relative to the app's own address."""
    return f"live/static/{scripts_version()}/{name}"
