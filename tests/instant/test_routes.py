"""The instant socket: its own token, limits in sentences, one worker for all, a new one when it is lost."""

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.websockets import WebSocket

from sandbox.foundations.errors import RunUnavailable
from sandbox.live import instant
from sandbox.live.instant import instant_name
from sandbox.live.instant_page import BEHIND, MOST_MESSAGES, MOST_WAITING, Page
from sandbox.live.routes import live_routes
from sandbox.live.tokens import Permission, Tokens
from sandbox.runner.instant.knobs import defaults
from sandbox.runner.instant.link import BINARY, Link
from tests.runner.waiting import eventually


class Workers:
    """Stands for the supervisor: whoever is asked for comes at once, as a link that the test holds."""

    def __init__(self) -> None:
        self.links: list[Link] = []
        self.refuse = False

    def __call__(self, address: str, secret: str) -> None:
        if self.refuse:
            raise RunUnavailable("No supervisor starts.")
        impostor = Link(address, "not the secret")
        self.links.append(Link(address, secret))
        impostor.close()

    def heard(self, n: int) -> list[dict[str, Any]]:
        """The next `n` messages at the newest link."""
        found: list[dict[str, Any]] = []
        eventually(lambda: len(self.links) > 0)
        while len(found) < n:
            found += self.links[-1].heard(5.0)
            assert self.links[-1].open
        return found


class Deaf(WebSocket):
    """A socket whose other end reads nothing: what is sent never goes through."""

    def __init__(self) -> None:
        self.codes: list[int] = []
        self.scope = {}

    async def receive(self) -> Any:
        await asyncio.Event().wait()

    async def send(self, message: Any) -> None:
        await asyncio.Event().wait()

    async def close(self, code: int = 1000, reason: str | None = None) -> None:
        self.codes.append(code)


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Workers]:
    made = Workers()
    monkeypatch.setattr(instant, "ask_for_worker", made)
    monkeypatch.setattr(instant, "found_build", lambda: ("x86-64-v3", ""))
    yield made
    for link in made.links:
        link.close()


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(Starlette(routes=live_routes()), base_url="http://localhost") as made:
        yield made


def address(session: str = "s1", signed_for: str | None = None) -> str:
    token = Tokens().sign(Permission(signed_for or instant_name(session), True))
    return f"/live/instant/{session}?token={token}"


def told(page: WebSocketTestSession) -> dict[str, Any]:
    return json.loads(page.receive()["text"])


def train(number: int, **knobs: float) -> dict[str, Any]:
    return {"do": "train", "id": number, "knobs": knobs}


def test_a_wish_reaches_the_worker_with_every_knob_and_its_answer_comes_back(
    client: TestClient, workers: Workers
) -> None:
    with client.websocket_connect(address()) as page:
        page.send_json(train(1, learning_rate=0.01))
        (wish,) = workers.heard(1)
        knobs = defaults() | {"learning_rate": 0.01}
        assert wish == {"session": 1, "do": "train", "id": 1, "knobs": knobs, "seed": 0}
        workers.links[0].say(1, {"type": "curves", "id": 1}, b"\0" * 8)
        data = page.receive()["bytes"]
        (length,) = struct.unpack_from("<I", data)
        assert json.loads(data[4 : 4 + length]) == {"type": "curves", "id": 1} and length % 4 == 0
        page.send_json({"do": "ack"})
        page.send_json({"do": "seed", "seed": 2})
        page.send_json({"do": "cancel"})
        assert [message["do"] for message in workers.heard(3)] == ["ack", "seed", "cancel"]
    assert workers.heard(1) == [{"session": 1, "do": "leave"}]


def test_what_cannot_be_trained_never_reaches_the_worker(client: TestClient, workers: Workers) -> None:
    with client.websocket_connect(address()) as page:
        for request, said in (
            (train(1, n_seeds=1000), "between 1 and 8"),
            (train(2, warp=1), "no knob 'warp'"),
            ({"do": "train", "id": -1, "knobs": {}}, "number is -1"),
            ({"do": "train", "id": "1", "knobs": {}}, "number is '1'"),
            ({"do": "seed", "seed": 1e9}, "The seed is"),
            (train(3) | {"seed": -1}, "The seed is -1"),
            ({"do": "fly"}, "'fly'"),
            ({}, "'None'"),
        ):
            page.send_json(request)
            answer = told(page)
            assert answer["type"] == "refused" and said in answer["reason"]
            assert answer["reason"].endswith(".") and len(answer["reason"]) < 300
    assert workers.links == []


@pytest.mark.parametrize("junk", ["no json", "[1]", "{" * 1500, json.dumps({"do": "x" * 3000})])
def test_junk_closes_the_socket(client: TestClient, workers: Workers, junk: str) -> None:
    with client.websocket_connect(address()) as page:
        page.send_text(junk)
        closed = page.receive()
        assert (closed["type"], closed["code"]) == ("websocket.close", 1003)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "9" * 1900, "-1", "true", '"x"', "[NaN]"])
def test_a_refusal_names_only_what_is_a_number_of_a_request(
    client: TestClient, workers: Workers, number: str
) -> None:
    with client.websocket_connect(address()) as page:
        page.send_text(f'{{"do":"train","id":{number},"knobs":{{}}}}')
        text = page.receive()["text"]
        answer = json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
        assert (answer["type"], answer["id"]) == ("refused", None) and len(text) < 300
        page.send_json({"do": "train", "id": 7, "knobs": {"warp": 1}})
        assert told(page)["id"] == 7


def test_a_page_that_does_not_read_is_closed_before_it_eats_the_memory() -> None:
    async def scene() -> None:
        socket = Deaf()
        instants, tokens = instant.Instants(), Tokens("a secret")
        serving = asyncio.create_task(instants.serve(socket, "s1", Permission("instant:s1", True), tokens))
        await asyncio.sleep(0.01)
        (page,) = instants._pages.values()
        most = 0
        for _ in range(1000):
            instants._deliver(page.number, BINARY, bytes(2**16))
            most = max(most, page.waiting)
            await asyncio.sleep(0)
        await asyncio.wait_for(serving, 10)
        assert most <= MOST_WAITING + 2**16 and page.waiting == 0
        assert socket.codes == [BEHIND] and instants._pages == {}

    asyncio.run(scene())


def test_many_small_messages_are_bounded_too() -> None:
    page = Page(1, Deaf())
    for _ in range(MOST_MESSAGES):
        page.tell({})
    assert not page.behind.is_set()
    page.tell({})
    assert page.behind.is_set() and page.waiting == 0


@pytest.mark.parametrize("signed_for", ["s1", "instant:other", "made-up"])
def test_a_token_of_anything_else_trains_nothing(
    client: TestClient, workers: Workers, signed_for: str
) -> None:
    with client.websocket_connect(address(signed_for=signed_for)) as page:
        assert told(page)["type"] == "refused"
        assert page.receive()["type"] == "websocket.close"


def test_a_run_is_not_watched_with_a_token_for_training(client: TestClient) -> None:
    token = Tokens().sign(Permission(instant_name("s1"), True))
    with client.websocket_connect(f"/live/ws/made-up?token={token}") as page:
        assert told(page)["type"] == "refused"


def test_a_second_page_of_a_session_takes_over_and_other_sessions_stay(
    client: TestClient, workers: Workers
) -> None:
    with client.websocket_connect(address("s1")) as first, client.websocket_connect(address("s2")) as other:
        first.send_json(train(1))
        other.send_json(train(1))
        assert {message["session"] for message in workers.heard(2)} == {1, 2}
        with client.websocket_connect(address("s1")) as second:
            assert "another tab" in told(first)["reason"]
            assert first.receive()["type"] == "websocket.close"
            second.send_json(train(1))
            assert next(m for m in workers.heard(1) if m["do"] == "train")["session"] == 3
        assert len(workers.links) == 1


def test_no_more_pages_train_than_are_served(
    client: TestClient, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instant, "MOST_PAGES", 1)
    with client.websocket_connect(address("s1")), client.websocket_connect(address("s2")) as second:
        assert "1 pages train already" in told(second)["reason"]


def test_a_lost_worker_is_followed_by_another_that_gets_the_newest_wish(
    client: TestClient, workers: Workers
) -> None:
    with client.websocket_connect(address()) as page:
        page.send_json(train(1))
        page.send_json(train(2, d_ff=8) | {"seed": 1})
        page.send_json({"do": "seed", "seed": 6})
        workers.heard(3)
        workers.links[0].close()
        eventually(lambda: len(workers.links) == 2)
        (wish,) = workers.heard(1)
        assert (wish["id"], wish["knobs"]["d_ff"], wish["seed"]) == (2, 8, 6)
        assert told(page)["type"] == "lost"
        workers.links[1].close()
        assert "ended twice" in told(page)["reason"]
        page.send_json(train(3))
        eventually(lambda: len(workers.links) == 3)
        assert workers.heard(1)[0]["id"] == 3


def test_without_a_supervisor_or_kernels_the_page_is_told_why(
    client: TestClient, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    with client.websocket_connect(address()) as page:
        workers.refuse = True
        page.send_json(train(1))
        assert told(page)["reason"] == "No supervisor starts."
        monkeypatch.setattr(instant, "found_build", lambda: ("", "the native engine is not built"))
        page.send_json(train(2))
        assert "the native engine is not built" in told(page)["reason"]


def test_messages_of_any_size_and_cut_come_whole_over_the_link() -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0sandbox-test-link-" + str(id(server)))
        server.listen()
        name = server.getsockname()[1:].decode()
        link = Link(name, "secret")
        theirs, _ = server.accept()
        assert theirs.recv(100) == b"secret\n"
        text = "".join(json.dumps({"session": n, "do": "x" * n}) + "\n" for n in range(40)).encode()

        def in_pieces() -> None:
            for at in range(0, len(text), 7):
                theirs.sendall(text[at : at + 7])
            theirs.close()

        threading.Thread(target=in_pieces).start()
        found: list[dict[str, Any]] = []
        while link.open:
            found += link.heard(5.0)
        assert [message["session"] for message in found] == list(range(40))
        link.close()
