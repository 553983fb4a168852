"""One page's session: a newer value takes the older one's place, and every message follows the one before."""

import itertools
import time
from typing import Any

import pytest

from sandbox.runner.instant import session as sessions
from sandbox.runner.instant.histogram import Histogram
from sandbox.runner.instant.knobs import check_knobs
from sandbox.runner.instant.session import Session, gives_way

QUICK = {"batch_size": 512, "d_ff": 4, "n_seeds": 2}


class Told:
    """A link that keeps what is said."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def say(self, session: int, message: dict[str, Any], numbers: bytes | None = None) -> None:
        assert session == 3
        self.messages.append(message)


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def session(told: Told, monkeypatch: pytest.MonkeyPatch) -> Session:
    """As on a machine that is fast enough, however busy this one is."""
    monkeypatch.setattr(sessions, "HOLD", 1e9)
    monkeypatch.setattr(sessions, "PATIENCE", 1e9)
    return Session(3, told.say, threads=2)


def wish(number: int, do: str = "train", **knobs: float) -> dict[str, Any]:
    return {"session": 3, "do": do, "id": number, "knobs": check_knobs(QUICK | knobs)}


def work(session: Session, turns: int = 10_000) -> None:
    """Give it turns until it rests, acknowledging like a page."""
    for _ in range(turns):
        session.hear({"do": "ack"})
        if not session.turn(lambda: None):
            return


def test_a_wish_is_trained_to_the_end_and_told_without_gap(session: Session, told: Told) -> None:
    session.hear(wish(1))
    work(session)
    epochs = [epoch for message in told.messages for epoch in message["epochs"]]
    assert epochs == [*range(0, 101, 2), *range(104, 301, 4)]
    froms = [message["from"] for message in told.messages]
    assert froms[0] == 0 and froms == sorted(froms) and told.messages[-1]["done"]
    assert ["meta" in message for message in told.messages] == [True] + [False] * (len(froms) - 1)
    assert (told.messages[-1]["computed"], told.messages[-1]["given_up"]) == (1, 0)
    assert not session.turn(lambda: None)


def test_a_newer_value_ends_the_older_once_its_first_epochs_are_done(session: Session, told: Told) -> None:
    session.hear(wish(1))
    while not told.messages:
        session.turn(lambda: None)
    assert told.messages[0]["epoch"] == 100
    session.hear(wish(2, learning_rate=0.1))
    work(session)
    later = [message for message in told.messages[1:] if message["id"] == 1]
    assert later == [] or later[-1]["epoch"] < 300
    assert told.messages[-1]["id"] == 2 and told.messages[-1]["done"]
    assert told.messages[-1]["computed"] == 2


def test_a_slow_computation_is_told_as_it_grows(
    session: Session, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "HOLD", 0.0)
    monkeypatch.setattr(sessions, "PACE", 0.0)
    session.hear(wish(1))
    while not told.messages:
        session.turn(lambda: None)
    assert told.messages[0]["epoch"] == 2 and told.messages[0]["epochs"] == [0, 2]
    assert told.messages[0]["first_seconds"] is None and told.messages[0]["computed"] == 0


def test_values_that_pass_by_while_one_is_trained_are_given_up(session: Session, told: Told) -> None:
    session.hear(wish(1))
    session.turn(lambda: None)
    for number in (2, 3, 4):
        session.hear(wish(number, learning_rate=0.001 * number))
    work(session)
    assert {message["id"] for message in told.messages} == {1, 4}
    assert (told.messages[-1]["computed"], told.messages[-1]["given_up"]) == (2, 2)


def test_first_epochs_that_take_too_long_are_given_up_as_far_as_they_came(
    session: Session, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "PATIENCE", 0.0)
    session.hear(wish(1))
    for _ in range(9):
        session.turn(lambda: None)
    session.hear(wish(2))
    session.turn(lambda: None)
    first = told.messages[0]
    assert first["id"] == 1 and 4 <= first["epoch"] <= 18 and first["epochs"][0] == 0 and not first["done"]
    work(session)
    assert told.messages[-1]["given_up"] == 1 and told.messages[-1]["computed"] == 1


@pytest.mark.parametrize(
    ("seconds", "epochs", "given_up"),
    [(0.4, 2, False), (0.5, 2, True), (0.5, 54, True), (0.5, 56, False), (0.7, 80, False), (0.0, 0, False)],
)
def test_first_epochs_are_given_up_after_a_while_unless_they_are_nearly_done(
    seconds: float, epochs: int, given_up: bool
) -> None:
    assert gives_way(seconds, epochs) is given_up


def test_another_seeds_pictures_are_told_again_and_no_curve_twice(session: Session, told: Told) -> None:
    session.hear(wish(1))
    work(session)
    time.sleep(sessions.PACE)
    session.hear({"session": 3, "do": "seed", "seed": 1})
    work(session)
    last = told.messages[-1]
    assert (last["seed"], last["frames_from"], last["epochs"]) == (1, 0, [])
    assert last["frames"][0] == 0 and last["frames"][-1] >= 296
    time.sleep(sessions.PACE)
    session.hear({"session": 3, "do": "seed", "seed": 99})
    work(session)
    assert told.messages[-1]["seed"] == 1


def test_a_thousand_chosen_seeds_are_told_at_the_pages_pace_and_the_newest_wins(
    session: Session, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "PACE", 0.0)
    monkeypatch.setattr(sessions, "ACK_PATIENCE", 1e9)
    session.hear(wish(1))
    work(session)
    session.hear({"session": 3, "do": "seed", "seed": 1})
    session.turn(lambda: None)
    n = len(told.messages)
    for i in range(1001):
        session.hear({"session": 3, "do": "seed", "seed": i % 2})
        assert not session.turn(lambda: None)
    assert len(told.messages) == n  # the page has not said that it has drawn
    work(session)
    assert len(told.messages) == n + 1
    assert (told.messages[-1]["seed"], told.messages[-1]["frames_from"]) == (0, 0)


def test_every_wish_brings_the_seed_of_its_pictures(session: Session, told: Told) -> None:
    session.hear(wish(1, n_seeds=4) | {"seed": 3})
    work(session)
    session.hear(wish(2) | {"seed": 3})  # fewer seeds: pictures of the last one
    work(session)
    session.hear(wish(3, n_seeds=4) | {"seed": 1})
    work(session)
    assert {(m["id"], m["seed"]) for m in told.messages} == {(1, 3), (2, 1), (3, 1)}


def test_a_seed_that_is_chosen_while_a_wish_waits_is_that_wishs_seed(session: Session, told: Told) -> None:
    session.hear(wish(1, n_seeds=4) | {"seed": 0})
    session.hear({"session": 3, "do": "seed", "seed": 2})
    work(session)
    assert {m["seed"] for m in told.messages} == {2}


def test_pictures_of_two_seeds_never_stand_in_one_row(
    session: Session, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "HOLD", 0.0)
    monkeypatch.setattr(sessions, "PACE", 0.0)
    session.hear(wish(1))
    for i in range(40):
        session.hear({"session": 3, "do": "seed", "seed": i // 5 % 2})
        session.hear({"do": "ack"})
        session.turn(lambda: None)
    for before, after in itertools.pairwise(told.messages):
        assert after["frames_from"] == 0 or after["seed"] == before["seed"]
    assert {m["seed"] for m in told.messages} == {0, 1}


def test_a_histogram_is_cancelled_by_the_page_and_by_a_knob(session: Session, told: Told) -> None:
    for end in ({"do": "cancel"}, wish(9)):
        session.hear(wish(5, do="histogram"))
        for _ in range(5):
            assert session.turn(lambda: None)
        assert isinstance(session._many, Histogram)
        session.hear(end)
        session.turn(lambda: None)
        cancelled = [m for m in told.messages if m["type"] == "histogram"][-1]
        assert cancelled["cancelled"] and cancelled["n"] == 0 and cancelled["id"] == 5
        assert session._many is None


def test_curves_wait_while_many_seeds_are_trained_and_go_on_after(session: Session, told: Told) -> None:
    session.hear(wish(1))
    while not told.messages:
        session.turn(lambda: None)
    session.hear(wish(2, do="histogram"))
    session.turn(lambda: None)
    n_curves = len([m for m in told.messages if m["type"] == "curves"])
    session.hear({"session": 3, "do": "seed", "seed": 1})
    time.sleep(sessions.PACE)
    session.hear({"do": "ack"})
    for _ in range(5):
        session.turn(lambda: None)
    of_seed = [m for m in told.messages if m["type"] == "curves"][n_curves:]
    assert [(m["seed"], m["frames_from"], m["epoch"]) for m in of_seed] == [(1, 0, 100)]
    session.hear({"do": "cancel"})
    work(session)
    assert told.messages[-1]["id"] == 1 and told.messages[-1]["done"]


def test_a_page_that_does_not_draw_is_told_less(session: Session, told: Told) -> None:
    session.hear(wish(1))
    began = time.monotonic()
    while not (told.messages and told.messages[-1]["done"]):
        session.turn(lambda: None)
    waited = time.monotonic() - began
    assert len(told.messages) <= 2 + waited / sessions.ACK_PATIENCE
