"""The pace of a machine is what it has measured: exact where the same settings ran, scaled elsewhere."""

import pytest

from sandbox.runner import pace, queue
from sandbox.runner.pace import Pace, Past, read_pace, remember, same_of

PLAIN = {"task": {"kind": "t"}, "model": {"kind": "m", "width": 8}, "seeds": [0], "steps": 100}
OTHER = {**PLAIN, "model": {"kind": "m", "width": 9}}


def test_nothing_measured_is_said_to_be_a_guess() -> None:
    guess = Pace([], []).guess(PLAIN, 3e10)
    assert guess.seconds == pytest.approx(1.001) and "within a factor of five" in guess.basis


def test_a_warm_up_is_a_line_through_its_two_steps() -> None:
    measured = Pace([(1e6, 0.003), (1e9, 1.002)], [])
    assert measured.guess(PLAIN, 1e6).seconds == pytest.approx(0.003)
    assert measured.guess(PLAIN, 1e9).seconds == pytest.approx(1.002)
    assert measured.guess(PLAIN, 5e8).seconds == pytest.approx(0.5025, rel=0.01)


def test_runs_of_the_same_settings_overrule_all_else_and_scale_with_their_seeds() -> None:
    past = [Past("cpu", "t | m", same_of(PLAIN), 2e6, 0.010), Past("cpu", "t | m", "another", 2e6, 9.0)]
    guess = Pace([(1e6, 1.0), (1e9, 2.0)], past).guess({**PLAIN, "seeds": [1, 2], "steps": 9}, 4e6)
    assert guess.seconds == pytest.approx(0.020) and guess.basis == "as 1 run of these settings took here"


def test_runs_of_the_same_kind_correct_the_warm_up_by_their_ratio() -> None:
    measured = Pace([(1e6, 0.001), (1e9, 1.0)], [Past("cpu", "t | m", "x", 1e8, 0.3)])
    assert measured.guess(OTHER, 2e8).seconds == pytest.approx(0.6, rel=0.01)
    assert measured.guess(OTHER, 2e8, "cuda").seconds == pytest.approx(0.2, rel=0.01)


def test_steps_of_a_warm_up_are_not_called_runs() -> None:
    warm = Past("cpu", "t | m", "x", 1e8, 0.3, warm_up=True)
    run = Past("cpu", "t | m", "y", 1e8, 0.3)
    line = [(1e6, 0.001), (1e9, 1.0)]
    guess = Pace(line, [warm]).guess(OTHER, 2e8)
    assert guess.seconds == pytest.approx(0.6, rel=0.01) and guess.basis == pace.WARMED_UP
    assert "from 1 run of" in Pace(line, [run, warm]).guess(OTHER, 2e8).basis


def test_the_queue_remembers_the_newest_and_no_run_that_was_too_short() -> None:
    with queue.catalogue_connection() as connection:
        remember(connection, "short", PLAIN, "cpu", 1e6, 5.0, pace.LEAST_STEPS - 1)
        assert read_pace(connection).past == []
        for n in range(pace.KEPT + 3):
            remember(connection, f"r{n}", PLAIN, "cpu", 1e6, 2.0 * (n + 1), 100)
        found = read_pace(connection).past
        assert len(found) <= pace.KEPT and found[0].seconds == pytest.approx(0.02 * (pace.KEPT + 3))
        measured = {"line": [[1.0, 2.0]], "past": [["v | w", "x", 5.0, 7.0]]}
        pace.keep_fact(connection, pace.WARM_UP, measured)
        known = read_pace(connection)
    assert known.warm_up == [(1.0, 2.0)] and known.past[-1] == Past(
        "cpu", "v | w", "x", 5.0, 7.0, warm_up=True
    )
