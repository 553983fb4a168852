"""Asking from a picture: only who may steer, only what is stored; late readings reach whoever looks."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from sandbox.diagnostics import Diagnostic
from sandbox.foundations.errors import InvalidData, RunUnavailable
from sandbox.foundations.readings import PerHead
from sandbox.live import asking
from sandbox.live.blocks import HeadsBlock, RowsBlock, TableBlock
from sandbox.live.feed import Feed
from sandbox.live.growing_rows import Rows
from sandbox.live.panels import asked_kinds, declare_panels
from sandbox.live.routes import live_routes
from sandbox.live.scales import Scales
from sandbox.live.selection import Selection
from sandbox.live.updates import Cursor, next_update
from sandbox.live.wire import FULL, decode
from sandbox.runner import questions
from sandbox.runner.questions import AskedQuestions
from tests.live.synthetic import SyntheticRun
from tests.live.test_open_panels import certificate
from tests.live.test_routes import address, answer_of

KAPPA = "attention jacobian/median"


def read(run: SyntheticRun, step: int, value: float = 1.0) -> None:
    """A costly curve and a costly picture of every arm at `step`."""
    shape = (len(run.seeds), 1, 2)
    for arm in range(len(run.arms)):
        columns = {"median": np.full(shape, value), "rank": np.full(shape, 3.0)}
        run.writer.reading(step, arm, "attention jacobian", PerHead(columns=columns, unit="ratio"))
        run.writer.reading(step, arm, "jacobian certificates", certificate())
    run.writer.commit()


@pytest.fixture
def run(runs_folder: Path, made_up: Callable[..., SyntheticRun]) -> SyntheticRun:
    made = made_up(runs_folder / "made-up", arms=2, seeds=5)
    for step in (0, 40, 100):
        made.grow(step)
        for arm in range(2):
            made.writer.weights(step, arm, np.zeros((5, 4), np.float32))
    made.writer.commit()
    return made


@pytest.fixture
def feed(run: SyntheticRun, feed_of: Callable[..., Feed]) -> Feed:
    found = feed_of(run.writer.path)
    found.refresh()
    return found


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A supervisor that would answer."""
    monkeypatch.setattr(asking, "ensure_supervisor", lambda: True)


def test_panels_offer_to_compute_just_what_is_costly() -> None:
    costly = {kind for kind, variant in Diagnostic.variants.items() if variant.cost == "costly"}
    assert asked_kinds() == costly
    drawn = declare_panels(frozenset({"visual model", "listops", "sparse modular addition"}))
    assert {p["reading"] for p in drawn if p["on_demand"]} == costly


def test_a_question_becomes_a_line_that_the_runs_writer_reads(
    run: SyntheticRun, feed: Feed, answered: None
) -> None:
    number = asking.ask(feed, "sharpness", 40)
    (asked,), cancelled = AskedQuestions(run.writer.path).new()
    assert (asked.id, asked.kind, asked.step, cancelled) == (number, "sharpness", 40, [])
    run.writer.describe(questions=[asked.to_plain()])
    run.writer.commit()
    feed.refresh()
    assert asking.progress(feed)[0]["id"] == number
    assert asking.ask(feed, "sharpness", 40) == number, "the same question is asked once"
    asking.give_up(feed, number)
    assert AskedQuestions(run.writer.path).new()[1] == [number]


@pytest.mark.parametrize(
    ("kind", "step", "says"),
    [
        ("theta", 40, "not read on demand"),
        (None, 40, "not read on demand"),
        ({}, 40, "not read on demand"),
        ("sharpness", 41, "the nearest are 40 and 100"),
        ("sharpness", True, "No weights are stored"),
        ("sharpness", [40], "No weights are stored"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_sentence(
    feed: Feed, answered: None, kind: Any, step: Any, says: str
) -> None:
    with pytest.raises(InvalidData, match=says):
        asking.ask(feed, kind, step)


def test_recorded_runs_full_queues_and_a_missing_supervisor_are_named(
    run: SyntheticRun, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "being_written", lambda _folder: False)
    monkeypatch.setattr(asking, "ensure_supervisor", lambda: False)
    with pytest.raises(RunUnavailable, match="no supervisor starts"):
        asking.ask(feed, "sharpness", 40)
    waits = [{"id": str(i), "kind": "sharpness", "step": i} for i in range(questions.MOST_OPEN)]
    run.writer.describe(questions=waits)
    run.writer.commit()
    feed.refresh()
    with pytest.raises(InvalidData, match="12 questions to this run wait"):
        asking.ask(feed, "sharpness", 40)
    with pytest.raises(InvalidData, match="no question"):
        asking.give_up(feed, 7)
    feed.recorded = True
    with pytest.raises(RunUnavailable, match="recorded run"):
        asking.ask(feed, "sharpness", 40)
    with pytest.raises(InvalidData, match="no question"):
        asking.give_up(feed, "0")


def test_damaged_questions_are_no_questions(run: SyntheticRun, feed: Feed) -> None:
    run.writer.describe(questions=[{"what": 3}])
    run.writer.commit()
    feed.refresh()
    assert asking.progress(feed) == []


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(Starlette(routes=live_routes(linger=0)), base_url="http://localhost") as made:
        yield made


def test_only_who_may_steer_asks_over_the_socket(
    client: TestClient, run: SyntheticRun, answered: None
) -> None:
    with client.websocket_connect(address()) as socket:
        socket.send_json({"since": -1, "select": {}})
        socket.send_json({"command": "diagnose", "kind": "sharpness", "step": 40})
        answer = answer_of(socket)
        assert not answer["done"] and answer["reason"].startswith("You are watching")
        socket.send_json({"command": "cancel", "id": "a"})
        assert not answer_of(socket)["done"]
    assert AskedQuestions(run.writer.path).new() == ([], [])
    with client.websocket_connect(address(steer=True)) as socket:
        socket.send_json({"since": -1, "select": {}})
        told: list[dict[str, Any]] = []
        while not told or told[-1]["type"] != "stored":
            message = socket.receive()
            told += [json.loads(message["text"])] if message.get("text") else []
        assert told[-1] == {"type": "stored", "from": 0, "steps": [0, 40, 100]}
        socket.send_json({"command": "diagnose", "kind": "sharpness", "step": 40})
        answer = answer_of(socket)
        assert answer["done"] and (answer["kind"], answer["step"]) == ("sharpness", 40)
        socket.send_json({"command": "diagnose", "kind": "sharpness", "step": 3})
        assert "the nearest" in answer_of(socket)["reason"]
        socket.send_json({"command": "cancel", "id": answer["id"]})
        assert answer_of(socket)["done"]
    asked, cancelled = AskedQuestions(run.writer.path).new()
    assert [question.id for question in asked] == cancelled == [answer["id"]]


def looking(feed: Feed) -> Selection:
    """A viewer of the costly curve, of its present values and of the certificates."""
    number = feed.columns().index(KAPPA)
    rank = feed.columns().index("attention jacobian/rank")
    raw = {"curves": [number], "values": [number, rank], "open": ["jacobian certificates"]}
    return Selection.read(raw, feed)


def steps_in(feed: Feed, message: bytes) -> tuple[list[int], list[int], list[int]]:
    """Steps of the costly curve of the first arm, of its present values, and of the certificates."""
    blocks = decode(message).blocks
    number = feed.columns().index(KAPPA)
    rows = [b.steps.tolist() for b in blocks if isinstance(b, RowsBlock) and (number, 0) in b.series]
    heads = [b.step for b in blocks if isinstance(b, HeadsBlock) and number in b.columns]
    return rows[0] if rows else [], heads, [b.step for b in blocks if isinstance(b, TableBlock)]


def test_a_reading_of_an_earlier_step_reaches_who_looks_and_who_comes_back(
    run: SyntheticRun, feed: Feed, feed_of: Callable[..., Feed]
) -> None:
    for step in (20, 100):
        read(run, step)
    feed.refresh()
    chosen = looking(feed)
    message, cursor = next_update(feed, Cursor(), chosen, 1)
    assert decode(message).flags == FULL
    assert steps_in(feed, message) == ([20, 100], [20, 100], [20, 100])
    read(run, 40)
    assert feed.refresh()
    message, after = next_update(feed, cursor, chosen, 2)
    assert steps_in(feed, message) == ([20, 40, 100], [40], [40]), "the curve whole, the pictures between"
    message, _ = next_update(feed, after, chosen, 3)
    assert steps_in(feed, message) == ([], [], [])
    back = Cursor.since(feed, 100, chosen)
    assert steps_in(feed, next_update(feed, back, chosen, 4)[0]) == ([20, 40, 100], [40], [40])
    run.grow(140)
    feed.refresh()
    later = Cursor.since(feed, 140, chosen)
    assert steps_in(feed, next_update(feed, later, chosen, 5)[0]) == ([], [], []), "seen by then"
    fresh = feed_of(run.writer.path)
    fresh.refresh()
    again = Cursor.since(fresh, 100, chosen)
    assert steps_in(fresh, next_update(fresh, again, chosen, 6)[0])[0] == [20, 40, 100]


def test_axes_hold_a_reading_that_comes_late(run: SyntheticRun, feed: Feed) -> None:
    read(run, 100)
    feed.refresh()
    scales = Scales(feed)
    before = scales.look(["jacobian certificates"])["jacobian certificates"]["range"]
    wide = certificate()
    run.writer.reading(40, 1, "jacobian certificates", replace(wide, bound=1e6 * wide.bound))
    run.writer.commit()
    feed.refresh()
    after = scales.look(["jacobian certificates"])["jacobian certificates"]["range"]
    assert (before[1], after[1]) == (8.0, 8e6)


def test_a_first_reading_of_a_kind_at_an_early_step_comes_too(run: SyntheticRun, feed: Feed) -> None:
    chosen = looking(feed)
    _, cursor = next_update(feed, Cursor(), chosen, 1)
    read(run, 40)
    feed.refresh()
    message, _ = next_update(feed, cursor, chosen, 2)
    assert steps_in(feed, message) == ([40], [40], [40])


def test_rows_take_one_between_and_replace_one_of_the_same_step() -> None:
    rows = Rows((1,))
    for step in range(0, 140, 2):
        rows.append(step, np.array([step]))
    for step in (5, 4, -1, 200):
        rows.insert(step + 1, np.array([step * 10]))
    assert rows.steps.tolist() == sorted([*range(0, 140, 2), 5, 201])
    at = dict(zip(rows.steps.tolist(), rows.values[:, 0].tolist(), strict=True))
    assert (at[6], at[5], at[0], at[201], at[138]) == (50, 40, -10, 2000, 138)
