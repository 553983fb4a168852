"""The pace of a machine is what it has measured: exact where the same settings ran, scaled elsewhere."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sandbox.engine.native.coverage import not_covered
from sandbox.experiment.describe import check
from sandbox.experiment.experiment import load
from sandbox.runner import pace, queue
from sandbox.runner.pace import Pace, Past, looks_of, read_pace, remember, same_of
from sandbox.runner.warm_up import warm_up
from tests.runner.small import tiny

PLAIN: dict[str, Any] = {
    "task": {"kind": "t"}, "model": {"kind": "m", "width": 8}, "seeds": [0], "steps": 100,
    "arms": [{"name": "a"}],
}  # fmt: skip
OTHER = {**PLAIN, "model": {"kind": "m", "width": 9}}
LINE = [(1e6, 0.001), (1e9, 1.0)]
SLOW = [(1e6, 0.021), (1e9, 20.001)]
"""Of the torch engine: an empty step takes a millisecond, and a million operations twenty."""
NATIVE_RUN, TORCH_RUN = "t | m | native", "t | m | torch"


def test_nothing_measured_is_said_to_be_a_guess() -> None:
    guess = Pace({}, []).guess(PLAIN, 3e10)
    assert guess.seconds == pytest.approx(1.001) and "within a factor of five" in guess.basis


def test_a_warm_up_is_a_line_through_its_two_steps() -> None:
    measured = Pace({"native": [(1e6, 0.003), (1e9, 1.002)]}, [])
    assert measured.guess(PLAIN, 1e6).seconds == pytest.approx(0.003)
    assert measured.guess(PLAIN, 1e9).seconds == pytest.approx(1.002)
    assert measured.guess(PLAIN, 5e8).seconds == pytest.approx(0.5025, rel=0.01)


def test_runs_of_the_same_settings_overrule_all_else_and_scale_with_their_seeds() -> None:
    past = [Past("cpu", NATIVE_RUN, same_of(PLAIN), 2e6, 0.010), Past("cpu", NATIVE_RUN, "another", 2e6, 9.0)]
    guess = Pace({"native": [(1e6, 1.0), (1e9, 2.0)]}, past).guess(
        {**PLAIN, "seeds": [1, 2], "steps": 9}, 4e6
    )
    assert guess.seconds == pytest.approx(0.020) and guess.basis == "as 1 run of these settings took here"


def test_runs_of_the_same_kind_correct_the_warm_up_by_their_ratio() -> None:
    measured = Pace({"native": LINE, "torch": SLOW}, [Past("cpu", NATIVE_RUN, "x", 1e8, 0.3)])
    assert measured.guess(OTHER, 2e8).seconds == pytest.approx(0.6, rel=0.01)
    assert measured.guess(OTHER, 2e8, "cuda").seconds == pytest.approx(4.0, rel=0.01)


def test_steps_of_a_warm_up_are_not_called_runs() -> None:
    warm = Past("cpu", NATIVE_RUN, "x", 1e8, 0.3, warm_up=True)
    run = Past("cpu", NATIVE_RUN, "y", 1e8, 0.3)
    line = {"native": LINE}
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
        measured = {"lines": {"torch": [[1.0, 2.0]]}, "past": [["v | w", "x", 5.0, 7.0, 1.0, 1]]}
        pace.keep_fact(connection, pace.WARM_UP, measured)
        known = read_pace(connection)
    assert known.warm_up == {"torch": [(1.0, 2.0)]} and known.past[-1] == Past(
        "cpu", "v | w", "x", 5.0, 7.0, torch=1.0, warm_up=True
    )


def test_each_engine_has_its_own_line() -> None:
    measured = Pace({"native": LINE, "torch": SLOW}, [])
    assert measured.guess(PLAIN, 5e8, torch=0.0).seconds == pytest.approx(0.5, rel=0.01)
    assert measured.guess(PLAIN, 5e8, torch=1.0).seconds == pytest.approx(10.001, rel=0.01)
    assert measured.guess(PLAIN, 5e8, torch=1.0).basis == pace.WARMED_UP


def test_arms_of_both_engines_take_the_time_of_each() -> None:
    measured, two = (
        Pace({"native": LINE, "torch": SLOW}, []),
        PLAIN | {"arms": [{"name": "a"}, {"name": "b"}]},
    )
    alone = [measured.guess(PLAIN, 1e8, torch=share).seconds for share in (0.0, 1.0)]
    assert measured.guess(two, 2e8, torch=0.5).seconds == pytest.approx(sum(alone))


def test_every_arm_has_the_step_that_does_nothing() -> None:
    measured = Pace({"native": [(1e6, 0.003), (1e9, 1.002)]}, [])
    arms = PLAIN | {"arms": [{"name": str(n)} for n in range(8)]}
    assert measured.guess(arms, 1e6).seconds == pytest.approx(8 * 0.002 + 0.001)


def test_what_was_not_measured_of_an_engine_is_a_first_guess() -> None:
    assert "first guess" in Pace({"native": LINE}, []).guess(PLAIN, 1e6, torch=0.5).basis
    assert "first guess" in Pace({"torch": SLOW}, []).guess(PLAIN, 1e6, torch=0.5).basis


def test_what_is_read_of_a_run_is_paid_by_the_reading_and_not_by_the_step() -> None:
    short, long = PLAIN | {"steps": 100, "seeds": [0, 1]}, PLAIN | {"steps": 100_000, "seeds": [0, 1]}
    assert looks_of(short) * 100 == 32 * 2 and looks_of(long) * 100_000 == 96 * 2
    assert looks_of(PLAIN | {"steps": 9}) * 9 == 10
    took = Past("cpu", NATIVE_RUN, same_of(short), 1e8, 0.7, training=0.06, looks=looks_of(short))
    assert took.look == pytest.approx(1.0)
    measured = Pace({"native": LINE}, [took], look=9.0)
    for plain in (short, long, {**long, "batch_size": 5}):
        expected = 0.06 + looks_of(plain) * 1.0
        assert measured.guess(plain, 1e8).seconds == pytest.approx(expected, rel=1e-3)
    fresh = Pace({"native": LINE}, [], look=0.5)
    assert fresh.guess(long, 1e8).seconds == pytest.approx(0.1 + looks_of(long) * 0.5, rel=0.01)


def test_a_run_of_one_engine_says_nothing_of_the_other() -> None:
    quick = Past("cpu", NATIVE_RUN, "x", 1e8, 0.01)
    slow = Past("cpu", TORCH_RUN, "y", 1e8, 4.0, torch=1.0)
    measured = Pace({"native": LINE, "torch": SLOW}, [quick, slow])
    assert measured.guess(OTHER, 1e8, torch=0.0).seconds == pytest.approx(0.01, rel=0.01)
    assert measured.guess(OTHER, 1e8, torch=1.0).seconds == pytest.approx(4.0, rel=0.01)


def test_a_queue_of_an_earlier_version_learns_of_engines(runs_folder: Path) -> None:
    runs_folder.mkdir()
    with closing(sqlite3.connect(runs_folder / "catalogue.sqlite")) as old, old:
        old.execute(
            "CREATE TABLE paces(run_id TEXT PRIMARY KEY, device TEXT NOT NULL, family TEXT NOT NULL, "
            "same TEXT NOT NULL, flops REAL NOT NULL, seconds REAL NOT NULL, at REAL NOT NULL)"
        )
        old.execute("INSERT INTO paces VALUES ('r', 'cpu', 't | m', 's', 1e6, 0.5, 9.0)")
        old.execute("CREATE TABLE facts(key TEXT PRIMARY KEY, value TEXT NOT NULL)")
        old.execute(
            "INSERT INTO facts VALUES ('warm-up of both engines', '{\"line\": [[1, 2]], \"past\": []}')"
        )
    with queue.catalogue_connection() as connection:
        remember(connection, "new", PLAIN, "cpu", 1e6, 5.0, 100, torch=1.0)
        found = read_pace(connection)
    assert found.warm_up == {} and [past.family for past in found.past] == [TORCH_RUN, "t | m"]
    assert [past.torch for past in found.past] == [1.0, 0.0]


def test_a_cost_says_which_share_only_torch_trains() -> None:
    found = {
        name: check(tiny(arms=arms))["cost"]["torch"]
        for name, arms in {
            "native": ["standard"],
            "both": ["standard", "linear"],
            "torch": ["linear"],
        }.items()
    }
    built = not not_covered(load(tiny()).setting("standard"))
    assert found["torch"] == 1.0 and found["native"] == (0.0 if built else 1.0)
    assert 0.3 < found["both"] < 0.7 if built else found["both"] == 1.0


def test_the_warm_up_measures_every_engine_that_can_train_here() -> None:
    found = warm_up(seconds=0.02)
    built = not not_covered(load(tiny()).setting("standard"))
    assert set(found["lines"]) == ({"native", "torch"} if built else {"torch"})
    for (few, quick), (many, slow) in found["lines"].values():
        assert few < many and quick > 0 and slow > 0
    assert 0 < found["look"] < 10
    assert {past[4] for past in found["past"]} == ({0.0, 1.0} if built else {1.0})
