"""What a live socket says is JSON as browsers read it, whatever a viewer sends and a run has recorded."""

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from sandbox.live.json_text import json_text
from tests.live.synthetic import SyntheticRun
from tests.live.test_routes import address, answer_of, steering, until_update


def strictly(text: str) -> dict[str, Any]:
    """The JSON in a message as a browser reads it, where NaN and Infinity are faults."""
    return json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))


@pytest.mark.parametrize(
    "n", ['"7"', "NaN", "1e400", "-1e400", "7.0", "true", "null", "[7]", "-3", "9" * 1900]
)
def test_single_steps_are_a_whole_number_or_refused_in_json(
    client: TestClient, run: SyntheticRun, runs_folder: Path, n: str
) -> None:
    with steering(client, runs_folder) as (control, socket):
        socket.send_text(f'{{"command":"step","n":{n}}}')
        answer = answer_of(socket)
        assert not answer["done"] and "ask for 1 to" in answer["reason"] and len(answer["reason"]) < 200
        assert (control.wish, control.granted) == ("run", 0)


@pytest.mark.parametrize("steer", [False, True])
@pytest.mark.parametrize("junk", ["NaN", "-Infinity", "1e400", "9" * 600, '{"x":[NaN]}'])
def test_an_answer_repeats_no_kind_step_or_id_that_is_none(
    client: TestClient, run: SyntheticRun, junk: str, steer: bool
) -> None:
    with client.websocket_connect(address(steer=steer)) as socket:
        for command in ("diagnose", "cancel"):
            socket.send_text(f'{{"command":"{command}","kind":{junk},"step":{junk},"id":{junk}}}')
            text = socket.receive()["text"]
            answer = strictly(text)
            assert not answer["done"] and {answer["kind"], answer["step"], answer["id"]} == {None}
            assert len(text) < 400


def test_lines_with_a_level_that_is_no_finite_number_are_none_and_the_stream_goes_on(
    client: TestClient, run: SyntheticRun, runs_folder: Path
) -> None:
    levels = f'{{"accuracy": {{"x": 1e999, "long": {"9" * 400}, "chance": 0.5}}, "loss": {{"nan": NaN}}}}'
    with contextlib.closing(sqlite3.connect(runs_folder / "made-up" / "run.sqlite")) as connection:
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('lines', ?)", (levels,))
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('target', '-1e999')")
        connection.commit()
    with client.websocket_connect(address()) as socket:
        socket.send_json({"since": -1})
        while (hello := strictly(socket.receive()["text"]))["type"] != "hello":
            assert hello["type"] == "status"  # the history is still being read
        assert hello["lines"] == {"accuracy": {}, "loss": {}}
        assert hello["target"] is None
        until_update(socket)


def test_numbers_that_json_does_not_know_are_null_at_any_depth_and_the_rest_is_as_it_was() -> None:
    deep = {"a": [1.5, (float("nan"), {"b": float("-inf")})], "c": np.float64("inf"), "d": "NaN", "e": True}
    assert strictly(json_text(deep)) == {"a": [1.5, [None, {"b": None}]], "c": None, "d": "NaN", "e": True}
