"""Certificates computed before a live knob changed are delivered as stale: by the reader, and in tables."""

from pathlib import Path

import numpy as np
import pytest

from sandbox.foundations.certificate import HOLDS, STALE, STATES, Certificate
from sandbox.foundations.readings import PerHead
from sandbox.store import Run, RunWriter, open_run
from sandbox.store.export import export
from sandbox.store.staleness import as_it_stands, column_as_it_stands, stale_since
from sandbox.store.tables import reading_tables

ARM, OTHER = "standard", "spectral:shift=0.5"
SHAPE = (3, 2, 1, 2)
SHIFT = {"step": 10, "arm": OTHER, "key": "projection.shift", "value": 2.0}
RATE = {"step": 5, "arm": OTHER, "key": "optimizer.learning_rate", "value": 0.1}


def certificate() -> Certificate:
    return Certificate(
        names=("norm bound", "row bound"),
        statements=("kappa <= a", "kappa <= b"),
        bound=np.full(SHAPE, 5.0),
        measured=np.full(SHAPE, 3.0),
        state=np.full(SHAPE, HOLDS, np.int8),
        reason=np.full(SHAPE, -1, np.int8),
        reasons=("too long",),
        share=np.ones(SHAPE),
        unit="kappa",
    )


@pytest.fixture
def run(writer: RunWriter) -> Run:
    """A certificate of both arms at 8, 10 and 12; the learning rate changed at 5, the shift at 10."""
    for step in (8, 10, 12):
        for arm in (ARM, OTHER):
            writer.reading(step, arm, "jacobian certificates", certificate())
            writer.reading(step, arm, "theta", PerHead(columns={"mean": np.ones((3, 1, 2))}, unit="theta"))
    writer.describe(changes=[RATE, SHIFT])
    writer.commit()
    return open_run(writer.path)


def read(run: Run, step: int, arm: str) -> Certificate:
    found = run.reading("jacobian certificates", step, arm, seed=0)
    assert isinstance(found, Certificate)
    return found


def test_a_certificate_before_the_change_is_stale_and_names_it(run: Run) -> None:
    for step in (8, 10):
        found = read(run, step, OTHER)
        assert (found.state == STALE).all() and found.bound.max() == 5.0
        assert found.sentence(0, 0, 0, 0) == (
            "stale: a live knob was changed after this was computed: projection.shift at step 10"
        )


def test_one_after_it_and_the_other_arms_stand(run: Run) -> None:
    assert (read(run, 12, OTHER).state == HOLDS).all()
    assert (read(run, 8, ARM).state == HOLDS).all()


def test_the_learning_rate_touches_no_certificate() -> None:
    assert stale_since([RATE], OTHER, 0) is None
    assert stale_since([RATE, SHIFT], OTHER, 0) == stale_since([SHIFT], OTHER, 0) is not None


@pytest.mark.parametrize(
    "damaged", [None, "x", [3], [{"arm": OTHER}], [{"arm": OTHER, "key": "a", "step": "b"}]]
)
def test_damaged_changes_make_nothing_stale(damaged: object) -> None:
    assert stale_since(damaged, OTHER, 0) is None


def test_other_readings_are_left_alone(run: Run) -> None:
    reading = PerHead(columns={"mean": np.ones((3, 1, 2))}, unit="theta")
    assert as_it_stands(reading, [SHIFT], OTHER, 0) is reading
    values = np.zeros(SHAPE, np.int8)
    assert column_as_it_stands("state", values, {"type": "PerHead"}, [SHIFT], OTHER, 0) is values
    assert column_as_it_stands("bound", values, {"type": "Certificate"}, [SHIFT], OTHER, 0) is values


def test_a_stored_column_becomes_the_one_that_the_reading_would_have() -> None:
    meta = {"type": "Certificate", "reasons": ["too long"]}
    stale = certificate().stale("because")
    for column in ("state", "reason"):
        stored = getattr(certificate(), column)
        found = column_as_it_stands(column, stored, meta, [SHIFT], OTHER, 8)
        np.testing.assert_array_equal(found, getattr(stale, column))
        assert found.dtype == stored.dtype
        assert column_as_it_stands(column, stored, meta, [SHIFT], OTHER, 12) is stored


def test_tables_name_the_certificate_and_say_its_state_in_words(run: Run) -> None:
    tables = dict(reading_tables(run))
    state = tables["jacobian certificates state"]
    assert list(state)[:6] == ["arm", "seed", "step", "certificate", "layer", "head"]
    assert set(state["certificate"]) == {"norm bound", "row bound"}
    stale = (state["arm"] == OTHER) & (state["step"] <= 10)
    assert set(state["value"][stale]) == {STATES[STALE]} and set(state["value"][~stale]) == {STATES[HOLDS]}
    reasons = tables["jacobian certificates reason"]["value"]
    assert all("projection.shift" in word for word in reasons[stale]) and set(reasons[~stale]) == {""}
    assert tables["jacobian certificates bound"]["value"].dtype == np.float64


@pytest.mark.parametrize("to", ["csv", "parquet"])
def test_both_kinds_of_table_can_hold_the_words(run: Run, tmp_path: Path, to: str) -> None:
    folder = export(run, to, tmp_path / "out")
    assert (folder / f"reading-jacobian-certificates-state.{to}").stat().st_size > 0
