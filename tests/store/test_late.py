"""Late readings: those of an earlier step are told to whoever has read further, and each once."""

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.foundations.readings import PerHead
from sandbox.store import RunWriter, open_run
from sandbox.store.late import late_readings


def read(writer: RunWriter, step: int, kind: str = "sharpness") -> None:
    """One reading of one head for the first arm."""
    columns = {"value": np.full((len(writer.seeds), 1, 1), float(step))}
    writer.reading(step, 0, kind, PerHead(columns=columns, unit="unit"))
    writer.commit()


def train(writer: RunWriter, *steps: int) -> None:
    """Losses at `steps`."""
    writer.scalars(0, "loss", list(steps), np.ones((len(steps), len(writer.seeds))))
    writer.commit()


@pytest.fixture
def writer(tmp_path: Path, plain: dict[str, Any]) -> Any:
    with RunWriter.create(tmp_path / "run", plain) as made:
        train(made, *range(31))
        yield made


def test_since_a_step_brings_a_reading_that_came_later_for_an_earlier_step(writer: RunWriter) -> None:
    run = open_run(writer.path)
    arm = run.arms[0]
    assert run.since(30).readings == {}
    read(writer, 10)
    assert run.since(30).readings[arm, "sharpness"].tolist() == [10]
    assert run.since(30).step == 30
    train(writer, 31, 32)
    assert run.since(31).readings == {}, "who stood at 31 has read it"
    assert run.since(29).readings[arm, "sharpness"].tolist() == [10]
    assert run.since(30, up_to=9).readings == {}


def test_after_a_delta_every_late_reading_is_told_once(writer: RunWriter) -> None:
    run = open_run(writer.path)
    seen = run.since(-1)
    read(writer, 10)
    read(writer, 4)
    second = run.since(seen)
    assert second.readings[run.arms[0], "sharpness"].tolist() == [4, 10]
    assert run.since(second).readings == {}
    read(writer, 6)
    assert run.since(second).readings[run.arms[0], "sharpness"].tolist() == [6]


def test_only_what_a_later_reading_of_its_kind_overtook_is_marked_so_by_the_next_writer_too(
    writer: RunWriter, plain: dict[str, Any]
) -> None:
    read(writer, 10)
    read(writer, 20)
    writer.close()
    with RunWriter.resume(writer.path, plain) as again:
        read(again, 15)
        read(again, 15, "layer norms")
    with sqlite3.connect(writer.path / "run.sqlite") as db:
        found = [(late.step, late.at, late.overtaken, late.kinds) for late in late_readings(db)]
    db.close()
    assert found == [
        (10, 30, False, ("sharpness",)),
        (20, 30, False, ("sharpness",)),
        (15, 30, True, ("sharpness",)),
        (15, 30, False, ("layer norms",)),
    ]


def test_a_run_of_before_has_no_late_readings_and_is_read(writer: RunWriter) -> None:
    writer.close()
    with sqlite3.connect(writer.path / "run.sqlite") as db:
        db.execute("DROP TABLE late")
    db.close()
    assert open_run(writer.path).since(-1).late == 0


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 12)), max_size=25), st.integers(1, 4))
def test_a_follower_of_steps_or_of_deltas_misses_nothing(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[bool, int]], patience: int
) -> None:
    plain = {"schema": 1, "steps": 99, "seeds": [1], "arms": [{"name": "a"}]}
    with RunWriter.create(tmp_path_factory.mktemp("late") / "run", plain) as writer:
        train(writer, 0)
        run, newest, wanted = open_run(writer.path), 0, set[int]()
        by_step, by_delta = set[int](), list[int]()
        stood, seen = -1, run.since(-1)
        for turn, (trains, back) in enumerate([*moves, *[(False, 0)] * patience]):
            if trains:
                newest += 1
                train(writer, newest)
            elif max(newest - back, 0) not in wanted:
                wanted.add(max(newest - back, 0))
                read(writer, max(newest - back, 0))
            if turn % patience == patience - 1 or turn >= len(moves):
                found = run.since(stood)
                by_step.update(found.readings.get(("a", "sharpness"), np.zeros(0, int)).tolist())
                stood, seen = found.step, run.since(seen)
                by_delta += seen.readings.get(("a", "sharpness"), np.zeros(0, int)).tolist()
        run.close()
    assert by_step == wanted
    assert sorted(by_delta) == sorted(wanted)
