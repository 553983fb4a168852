"""What is kept comes back, each time later while it ends soon, and every start is one sentence."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from sandbox.runner import upkeep
from sandbox.runner.upkeep import LONGEST_REST, TOO_SOON, Kept, end_all, how_it_ended, rest_after


class Told:
    """A process that ends when it is told to."""

    def __init__(self) -> None:
        self.returncode: int | None = None

    def poll(self) -> int | None:
        return self.returncode


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def kept(clock: Clock, hindered: Callable[[], str] = lambda: "") -> tuple[Kept, list[Told]]:
    """Something kept, started, and the processes that it has been so far."""
    made: list[Told] = []

    def start() -> Told:
        made.append(Told())
        return made[-1]

    found = Kept("clock", start, hindered, clock)  # type: ignore[arg-type]
    found.start()
    return found, made


def seconds_until_started(found: Kept, made: list[Told], clock: Clock) -> float:
    before, began = len(made), clock.now
    while len(made) == before:
        found.keep()
        clock.now += 0.25 if len(made) == before else 0.0
    return clock.now - began


def test_rests_grow_from_nothing_to_half_a_minute() -> None:
    assert [rest_after(n) for n in range(6)] == [0.0, 0.0, 0.5, 1.0, 2.0, 4.0]
    assert {rest_after(n) for n in (8, 9, 100, 10**6)} == {LONGEST_REST}


def test_what_ends_soon_rests_longer_each_time_and_never_stays_away() -> None:
    clock = Clock()
    found, made = kept(clock)
    rests = []
    for _ in range(12):
        clock.now += 0.1
        made[-1].returncode = -9
        rests.append(seconds_until_started(found, made, clock))
    assert rests == [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, *[LONGEST_REST] * 5]
    assert found.ended_itself == 0


def test_what_has_lasted_comes_back_at_once() -> None:
    clock = Clock()
    found, made = kept(clock)
    for _ in range(5):
        made[-1].returncode = -9
        seconds_until_started(found, made, clock)
    clock.now += TOO_SOON
    made[-1].returncode = 1
    assert seconds_until_started(found, made, clock) == 0.0
    assert found.ended_itself == 1


def test_what_lives_is_left_alone() -> None:
    clock = Clock()
    found, made = kept(clock)
    for _ in range(9):
        found.keep()
        clock.now += 60.0
    assert len(made) == 1


def test_each_end_is_one_sentence_however_often_it_is_looked_at(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    found, made = kept(clock)
    for code in (-9, 3):
        made[-1].returncode = code
        seconds_until_started(found, made, clock)
        found.keep()
    assert [record.getMessage() for record in caplog.records] == [
        "The clock was ended by SIGKILL; it is started again at once.",
        "The clock ended with exit code 3; it is started again in 0.5 s.",
    ]


def test_what_stands_in_the_way_is_said_and_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    clock, ways = Clock(), ["is in a jam", "is in a jam", ""]
    found, made = kept(clock, lambda: ways.pop(0))
    made[-1].returncode = -15
    assert seconds_until_started(found, made, clock) == 1.5
    assert [record.getMessage() for record in caplog.records][1:] == [
        "The clock is in a jam; it is started again in 0.5 s.",
        "The clock is in a jam; it is started again in 1 s.",
    ]


def test_a_process_that_cannot_be_made_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    clock, tries = Clock(), [OSError(11, "Resource temporarily unavailable"), None]
    told = Told()

    def start() -> Told:
        if (fault := tries.pop(0)) is not None:
            raise fault
        return told

    found = Kept("clock", start, clock=clock)  # type: ignore[arg-type]
    while found.process is None:
        found.keep()
        clock.now += 0.25
    assert found.process is told  # type: ignore[comparison-overlap]
    assert "cannot be started (Resource temporarily unavailable)" in caplog.text


DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"


def test_all_are_asked_to_end_before_any_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "PATIENCE", 1.0)
    pipe = subprocess.PIPE
    found = [
        Kept(code, lambda code=code: subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe))  # type: ignore[misc]
        for code in (DEAF, DEAF, "print(flush=True); input()")
    ]
    end_all(*found)  # nothing was started
    for one in found:
        one.start()
        assert one.process is not None and one.process.stdout is not None
        one.process.stdout.readline()
        one.process.stdout.close()
    began = time.monotonic()
    end_all(*found)
    assert 0.9 < time.monotonic() - began < 30
    codes = [one.process.returncode for one in found if one.process is not None]
    assert codes[:2] == [-signal.SIGKILL] * 2 and codes[2] not in (None, -signal.SIGKILL)


@pytest.mark.parametrize(
    ("code", "words"),
    [(-9, "was ended by SIGKILL"), (-15, "was ended by SIGTERM"), (-99, "was ended by signal 99"),
     (0, "ended with exit code 0"), (2, "ended with exit code 2")],
)  # fmt: skip
def test_an_exit_code_in_words(code: int, words: str) -> None:
    assert how_it_ended(code) == words
