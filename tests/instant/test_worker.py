"""The worker over a real socket: pages in turn, faults as sentences, and an end when nobody is left."""

import json
import socket
import struct
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.runner.instant import worker as workers
from sandbox.runner.instant.curves import Curves
from sandbox.runner.instant.knobs import check_knobs
from sandbox.runner.instant.link import HEAD, TEXT, Link
from sandbox.runner.instant.worker import InstantWorker, cores

QUICK = check_knobs({"batch_size": 512, "d_ff": 4, "n_seeds": 2})


class App:
    """The app's end of the socket, with a worker that runs in a thread beside it."""

    def __init__(self) -> None:
        with socket.socket(socket.AF_UNIX) as server:
            name = f"sandbox-test-worker-{id(self)}-{time.monotonic_ns()}"
            server.bind(f"\0{name}")
            server.listen()
            self.worker = InstantWorker(Link(name, "secret"), threads=2)
            self.socket, _ = server.accept()
        self.file = self.socket.makefile("rb")
        assert self.file.readline() == b"secret\n"
        self.thread = threading.Thread(target=self.worker.run)
        self.thread.start()

    def say(self, session: int, do: str, **more: Any) -> None:
        self.socket.sendall(json.dumps({"session": session, "do": do, **more}).encode() + b"\n")

    def train(self, session: int, number: int, **knobs: float) -> None:
        self.say(session, "train", id=number, knobs=QUICK | knobs)

    def told(self) -> tuple[int, dict[str, Any]]:
        """The session and the JSON of the next message."""
        length, session, form = HEAD.unpack(self.file.read(HEAD.size))
        payload = self.file.read(length)
        if form == TEXT:
            return session, json.loads(payload)
        (size,) = struct.unpack_from("<I", payload)
        self.say(session, "ack")
        return session, json.loads(payload[4 : 4 + size])

    def until_done(self, *sessions: int) -> dict[int, list[dict[str, Any]]]:
        """All messages until each of these sessions has what it asked for."""
        found: dict[int, list[dict[str, Any]]] = {session: [] for session in sessions}
        while not all(messages and messages[-1].get("done") for messages in found.values()):
            session, message = self.told()
            found[session].append(message)
        return found

    def ended(self) -> bool:
        self.thread.join(timeout=60)
        return not self.thread.is_alive()

    def close(self) -> None:
        self.file.close()
        self.socket.close()
        assert self.ended()


@pytest.fixture
def app() -> Iterator[App]:
    made = App()
    yield made
    made.close()


def test_pages_are_trained_in_turn_and_each_is_told_of_its_own(app: App) -> None:
    app.train(1, 11)
    app.train(2, 22, learning_rate=0.1)
    found = app.until_done(1, 2)
    assert {message["id"] for message in found[1]} == {11}
    assert {message["id"] for message in found[2]} == {22}
    assert [message["epoch"] for message in (found[1][-1], found[2][-1])] == [300, 300]


def test_a_fault_is_a_sentence_for_that_page_and_the_worker_goes_on(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.say(1, "train", id=5, knobs=QUICK | {"n_terms": 99})
    assert app.told() == (1, {"type": "refused", "id": 5, "reason": app_reason("n_terms", 99)})
    whole = Curves.turn

    def faulty(self: Curves) -> bool:
        raise ZeroDivisionError("made up")

    monkeypatch.setattr(Curves, "turn", faulty)
    app.train(1, 6)
    session, message = app.told()
    assert session == 1 and message["id"] == 6 and "ZeroDivisionError: made up" in message["reason"]
    monkeypatch.setattr(Curves, "turn", whole)
    app.train(1, 7)
    assert app.until_done(1)[1][-1]["id"] == 7


def app_reason(name: str, value: float) -> str:
    """What is said of a value outside its knob."""
    with pytest.raises(Exception, match="here it is") as refused:
        check_knobs({name: value})
    return str(refused.value)


def test_it_ends_with_the_app() -> None:
    app = App()
    app.train(1, 1)
    app.close()
    assert not app.worker.link.open


def test_it_ends_a_while_after_the_last_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "LISTEN", 0.02)
    app = App()
    app.train(1, 1)
    app.until_done(1)
    monkeypatch.setattr(workers, "IDLE", 0.05)
    time.sleep(0.2)
    assert app.thread.is_alive()  # a page is open
    app.say(1, "leave")
    assert app.ended()
    app.close()


def test_it_trains_on_every_core_that_it_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {1, 5, 7})
    assert cores() == 3
