"""The live routes: a socket needs its run's token, brings what is new, and steers for those who may."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.websockets import WebSocketDisconnect

from sandbox.live.feed import MOST_EVENTS
from sandbox.live.routes import REFUSED, live_routes, scripts_version
from sandbox.live.tokens import Permission, Tokens
from sandbox.live.wire import FULL, MapBlock, RowsBlock, Update, decode
from sandbox.runner.control import RunControl
from tests.live.synthetic import SyntheticRun


def address(run_id: str = "made-up", *, steer: bool = False) -> str:
    return f"/live/ws/{run_id}?token={Tokens().sign(Permission(run_id, steer))}"


def until_update(socket: WebSocketTestSession) -> tuple[list[dict[str, Any]], Update]:
    """The messages up to the next update, which is acknowledged."""
    told = []
    while True:
        message = socket.receive()
        if message.get("bytes"):
            update = decode(message["bytes"])
            socket.send_json({"ack": update.sequence})
            return told, update
        told.append(json.loads(message["text"]))


def answer_of(socket: WebSocketTestSession) -> dict[str, Any]:
    """The next answer to a command; updates in between are acknowledged."""
    while True:
        message = socket.receive()
        if message.get("bytes"):
            socket.send_json({"ack": decode(message["bytes"]).sequence})
        elif (told := json.loads(message["text"]))["type"] == "command":
            return told


def steps_of(update: Update, column: int = 4, arm: int = 0) -> list[int]:
    rows = [b for b in update.blocks if isinstance(b, RowsBlock) and (column, arm) in b.series]
    return rows[0].steps.tolist() if rows else []


@contextmanager
def steering(client: TestClient, runs: Path) -> Iterator[tuple[RunControl, WebSocketTestSession]]:
    """The control of the run "made-up", and a socket that may steer it and has its first picture."""
    with (
        RunControl(runs / "made-up", create=True) as control,
        client.websocket_connect(address(steer=True)) as socket,
    ):
        socket.send_json({"since": -1})
        until_update(socket)
        yield control, socket


def test_a_viewer_gets_hello_then_everything_then_only_what_is_new(
    client: TestClient, run: SyntheticRun
) -> None:
    with client.websocket_connect(address()) as socket:
        socket.send_json({"since": -1, "select": {}})
        told, first = until_update(socket)
        hello = next(m for m in told if m["type"] == "hello")
        assert hello["arms"] == ["standard", "spectral:shift=0.5"] and hello["seeds"] == [0, 1, 2]
        assert hello["steps"] == 1500 and not hello["steer"]
        assert {panel["kind"] for panel in hello["panels"]} >= {"loss", "accuracy", "theta", "attention map"}
        assert hello["lines"]["accuracy"]["chance"] == 0.5
        assert first.flags == FULL and steps_of(first) == [0, 20, 40]
        run.grow(60)
        _, second = until_update(socket)
        assert second.flags == 0 and second.step == 60 and steps_of(second) == [60]


def test_events_are_told_once_and_after_them_what_is_new_or_said_otherwise(
    client: TestClient, run: SyntheticRun
) -> None:
    run.writer.event(40, "threshold", "test accuracy reached 98%", 1, 0)
    run.writer.commit()
    with client.websocket_connect(address()) as socket:
        socket.send_json({"since": -1, "select": {"open": ["token trajectories", 3], "grid": 1}})
        told, update = until_update(socket)
        events = [message["events"] for message in told if message["type"] == "events"]
        assert events == [[[40, 1, 0, "threshold", "test accuracy reached 98%"]]]
        assert not any(isinstance(block, MapBlock) for block in update.blocks)
        run.writer.event(50, "nan", "the batch loss is nan", 0, 2)
        run.grow(60)
        told, _ = until_update(socket)
        (message,) = [message for message in told if message["type"] == "events"]
        assert [event[3] for event in message["events"]] == ["nan"]
        assert message["n"] == 2 and not message["whole"]
        run.writer.event(50, "nan", "said otherwise", 0, 2)
        run.grow(80)
        told, _ = until_update(socket)
        (message,) = [message for message in told if message["type"] == "events"]
        assert message["events"] == [[50, 0, 2, "nan", "said otherwise"]] and message["n"] == 2


def test_of_very_many_spikes_the_latest_are_told_and_how_many_there_are(
    client: TestClient, run: SyntheticRun
) -> None:
    for step in range(1, 1200, 2):
        run.writer.event(step, "spike", "a loss", 0, 0)
    run.writer.event(2, "phase", "plateau", 0, 0)
    run.writer.commit()
    with client.websocket_connect(address()) as socket:
        socket.send_json({"since": -1, "select": {}})
        told, _ = until_update(socket)
        (message,) = [message for message in told if message["type"] == "events"]
        steps = [event[0] for event in message["events"]]
        assert message["n"] == 601 and message["whole"] and len(steps) == MOST_EVENTS
        assert steps == sorted(steps) and steps[0] == 2 and steps[-1] == 1199


def test_a_viewer_that_comes_back_asks_for_the_rest_alone(client: TestClient, run: SyntheticRun) -> None:
    with client.websocket_connect(address()) as socket:
        socket.send_json({"since": 20, "select": {}})
        _, update = until_update(socket)
        assert update.flags == 0 and steps_of(update) == [40]


@pytest.mark.parametrize("token", ["", "forged", None])
def test_a_socket_without_its_runs_token_is_told_why_and_closed(
    client: TestClient, run: SyntheticRun, token: str | None
) -> None:
    if token is None:
        token = Tokens().sign(Permission("another-run"))
    with client.websocket_connect(f"/live/ws/made-up?token={token}") as socket:
        assert socket.receive_json()["type"] == "refused"
        with pytest.raises(WebSocketDisconnect) as closed:
            socket.receive_json()
    assert closed.value.code == REFUSED


def test_a_signed_path_is_still_no_run(client: TestClient, runs_folder: Path) -> None:
    for name in ("...", "recorded:..", "recorded:", "Straße"):
        token = Tokens().sign(Permission(name))
        with client.websocket_connect(f"/live/ws/{name}?token={token}") as socket:
            assert socket.receive_json()["type"] == "refused"


def test_only_who_may_steer_moves_the_run(client: TestClient, run: SyntheticRun, runs_folder: Path) -> None:
    with RunControl(runs_folder / "made-up", create=True) as control:
        for steer, wish in ((False, "run"), (True, "pause")):
            with client.websocket_connect(address(steer=steer)) as socket:
                socket.send_json({"since": -1})
                until_update(socket)
                socket.send_json({"command": "pause"})
                answer = answer_of(socket)
                assert answer["done"] is steer and ("owner" in answer.get("reason", "")) is not steer
            assert control.wish == wish


def test_each_button_reaches_the_control_file(
    client: TestClient, run: SyntheticRun, runs_folder: Path
) -> None:
    with steering(client, runs_folder) as (control, socket):
        for command, wish in (("step", "pause"), ("resume", "run"), ("pause", "pause"), ("stop", "stop")):
            socket.send_json({"command": command})
            assert answer_of(socket)["done"] and control.wish == wish
        assert control.granted == 1
        socket.send_json({"command": "format the disk"})
        socket.send_json({"command": "step", "n": 0})
        assert "ask for 1 to" in answer_of(socket)["reason"]


def test_a_pause_sends_the_state_and_then_the_curves_whole(client: TestClient, run: SyntheticRun) -> None:
    with client.websocket_connect(address()) as socket:
        socket.send_json({"since": -1})
        until_update(socket)
        run.grow(60, state="paused")
        told, update = until_update(socket)
        (status,) = (words["status"] for words in told if words["type"] == "status")
        assert (status["state"], status["step"], status["seconds"]) == ("paused", 60, 0.61)
        assert update.state == "paused" and update.flags == FULL and steps_of(update) == [0, 20, 40, 60]


def test_junk_closes_the_socket_and_a_wild_selection_is_brought_inside(
    client: TestClient, run: SyntheticRun
) -> None:
    with client.websocket_connect(address()) as socket:
        socket.send_json({"since": -1, "select": {"arm": 99, "seed": -5, "head": "x", "layer": 1e300}})
        _, update = until_update(socket)
        assert update.selection == (1, 0, 0, 0)
        socket.send_text("{" * 50)
        with pytest.raises(WebSocketDisconnect):
            while True:
                socket.receive_json()


@pytest.mark.parametrize("frame", [b"\x00\xff", "[" * 1900, "7", '{"since": ' + "9" * 1900 + "}"])
def test_garbage_closes_the_socket_with_a_code_or_does_nothing(
    client: TestClient, run: SyntheticRun, frame: bytes | str
) -> None:
    with client.websocket_connect(address()) as socket:
        socket.send_json({"since": -1})
        until_update(socket)
        if isinstance(frame, bytes):
            socket.send_bytes(frame)
        else:
            socket.send_text(frame)
        if "since" in str(frame):  # from a time that this run never reaches
            run.grow(60)
            while until_update(socket)[1].step != 60:
                pass
        else:
            while (message := socket.receive())["type"] != "websocket.close":
                assert message["type"] == "websocket.send"
            assert message["code"] == 1003


def test_a_damaged_run_is_named_so_before_and_after_its_hello(
    client: TestClient, run: SyntheticRun, runs_folder: Path
) -> None:
    def failure(socket: WebSocketTestSession) -> str:
        while True:
            message = socket.receive()
            if message.get("bytes"):
                socket.send_json({"ack": decode(message["bytes"]).sequence})
            elif (told := json.loads(message["text"])).get("status", {}).get("state") == "failed":
                return str(told["status"]["reason"])

    (runs_folder / "broken").mkdir()
    (runs_folder / "broken" / "run.sqlite").write_bytes(b"no database at all" * 100)
    with client.websocket_connect(address("broken")) as socket:
        socket.send_json({"since": -1})
        assert "run.sqlite is damaged" in failure(socket)
    with client.websocket_connect(address()) as socket:
        socket.send_json({"since": -1})
        until_update(socket)
        run.writer.describe(notes=5)
        run.writer.commit()
        assert "run.sqlite is damaged" in failure(socket)


def test_a_run_that_waits_in_the_queue_is_named_so_and_begins_by_itself(
    runs_folder: Path, made_up: Callable[..., SyntheticRun]
) -> None:
    said = {"state": "queued", "reason": "second in line"}
    answers = [said]
    routes = live_routes(lambda run_id: answers[0], linger=0)
    with TestClient(Starlette(routes=routes), base_url="http://localhost") as client:
        (runs_folder / "later").mkdir(parents=True)
        with client.websocket_connect(address("later")) as socket:
            socket.send_json({"since": -1})
            while (message := socket.receive_json())["status"].get("reason") != "second in line":
                assert message["type"] == "status"
            answers[0] = None
            made_up(runs_folder / "later", arms=1).grow(20)
            told, update = until_update(socket)
            assert any(m["type"] == "hello" for m in told)
            while update.step != 20:  # it may have been seen while its first rows were on their way
                _, update = until_update(socket)


def test_scripts_are_kept_for_good_under_the_address_of_their_content(client: TestClient) -> None:
    fresh = client.get(f"/live/static/{scripts_version()}/main.js")
    assert fresh.status_code == 200 and "immutable" in fresh.headers["cache-control"]
    assert fresh.headers["content-type"].startswith("text/javascript")
    assert client.get("/live/static/0000/main.js").headers["cache-control"] == "no-store"
    for name in ("../palette.json", "..%2Fpalette.json", "missing.js", "README"):
        assert client.get(f"/live/static/{scripts_version()}/{name}").status_code == 404
