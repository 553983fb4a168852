"""The guard: our own pages pass; foreign hosts, foreign pages and rebound names do not."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from sandbox.live.guard import Guard, host_name


async def answer(request: Request) -> PlainTextResponse:
    return PlainTextResponse("inside")


async def talk(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text("inside")
    await socket.close()


def client(host: str = "localhost:8501", allow: tuple[str, ...] = ()) -> TestClient:
    paths = ("/", "/_stcore/health", "/_stcore/metrics", "/app/_stcore/metrics/")
    routes = [Route(path, answer, methods=["GET", "POST", "PUT", "DELETE"]) for path in paths]
    app = Starlette(
        routes=[*routes, WebSocketRoute("/_stcore/stream", talk)],
        middleware=[Middleware(Guard, allow_hosts=allow)],
    )
    return TestClient(app, base_url=f"http://{host}")


def opens_socket(to: TestClient, **headers: str) -> bool:
    address = str(to.base_url).replace("http", "ws", 1)
    try:
        with to.websocket_connect(f"{address}/_stcore/stream", headers=headers) as socket:
            return socket.receive_text() == "inside"
    except WebSocketDisconnect:
        return False


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8501", "127.0.0.1:8501", "[::1]:8501", "LOCALHOST:1"]
)
def test_loopback_names_are_answered(host: str) -> None:
    assert client(host).get("/").text == "inside"
    assert client(host).get("/_stcore/health").status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io:8501", "10.0.0.7"]
)
def test_foreign_hosts_get_one_sentence_and_nothing_else(host: str) -> None:
    for path in ("/", "/_stcore/health", "/_stcore/metrics"):
        refused = client(host).get(path)
        assert refused.status_code == 403 and "--allow-host" in refused.text and "inside" not in refused.text


def test_a_rebound_page_cannot_open_a_socket() -> None:
    # DNS rebinding: the browser believes evil.example is us, so Host and Origin agree, and both are foreign.
    assert not opens_socket(client("evil.example:8501"), origin="http://evil.example:8501")


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "http://localhost:3000",
        "null",
        "http://localhost:8501.evil.example",
        "file://",
        "http://[",
        "http://[::1",
        "",
    ],
)
def test_a_foreign_page_cannot_open_a_socket_or_post(origin: str) -> None:
    assert not opens_socket(client(), origin=origin)
    for method in ("POST", "PUT", "DELETE"):
        assert client().request(method, "/", headers={"origin": origin}).status_code == 403


def test_our_own_page_may_do_both() -> None:
    assert opens_socket(client(), origin="http://localhost:8501")
    assert opens_socket(client("localhost"), origin="http://localhost")
    assert opens_socket(client("localhost"), origin="https://localhost:443")
    assert client().post("/", headers={"origin": "http://localhost:8501"}).text == "inside"


def test_a_program_without_origin_may_but_a_browsers_cross_site_request_may_not() -> None:
    assert opens_socket(client())
    assert client().post("/").status_code == 200
    for site in ("cross-site", "same-site"):
        assert client().post("/", headers={"sec-fetch-site": site}).status_code == 403


def test_more_hosts_come_from_the_flag_and_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_ALLOWED_HOSTS", " lab.example , Other.Example")
    for host in ("lab.example", "other.example:80", "named.example"):
        assert client(host, allow=("named.example",)).get("/").status_code == 200
    assert client("evil.example", allow=("named.example",)).get("/").status_code == 403


def test_metrics_are_closed_unless_a_token_opens_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("/_stcore/metrics", "/app/_stcore/metrics/"):
        assert client().get(path).status_code == 404
        assert client().get(path, headers={"authorization": "Bearer "}).status_code == 404
    monkeypatch.setenv("SANDBOX_METRICS_TOKEN", "open")
    assert client().get("/_stcore/metrics", headers={"authorization": "Bearer shut"}).status_code == 404
    assert client().get("/_stcore/metrics", headers={"authorization": "Bearer open"}).text == "inside"


def test_every_answer_carries_the_security_headers() -> None:
    for response in (client().get("/"), client("evil.example").get("/")):
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["x-frame-options"] == "SAMEORIGIN"
        assert "frame-ancestors 'self'" in response.headers["content-security-policy"]
        assert response.headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize(
    "host", ["", "a b", "localhost:99999999", "user@localhost", "localhost/..", "[::1", ":8501"]
)
def test_a_malformed_host_is_no_name(host: str) -> None:
    assert host_name(host) is None


@pytest.mark.parametrize(
    ("path", "sent", "heard"),
    [
        ("/_stcore/stream", "text", "websocket.disconnect"),
        ("/_stcore/stream", b"bytes", "websocket.receive"),
        ("/live", "text", "websocket.receive"),
    ],
)
def test_a_text_on_the_socket_of_pages_ends_it(path: str, sent: str | bytes, heard: str) -> None:
    types = []

    async def listen(socket: WebSocket) -> None:
        await socket.accept()
        types.append((await socket.receive())["type"])

    app = Starlette(routes=[WebSocketRoute(path, listen)], middleware=[Middleware(Guard)])
    with TestClient(app, base_url="http://localhost").websocket_connect(f"ws://localhost{path}") as socket:
        (socket.send_text if isinstance(sent, str) else socket.send_bytes)(sent)  # type: ignore[operator]
    assert types == [heard]
