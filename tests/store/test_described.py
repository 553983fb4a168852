"""What a run says of itself is of its kind wherever it is read, or it is told, or it counts as nothing."""

import json
import math
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.errors import RunUnavailable
from sandbox.foundations.readings import PerHead, encode
from sandbox.runner.engine_words import engine_sentences
from sandbox.runner.questions import from_plain
from sandbox.store import RunWriter, open_run
from sandbox.store.check import check_folder
from sandbox.store.described import DESCRIBED, VITAL, fault_of, is_reading, numbers_of, sound_of
from sandbox.store.weights_file import write_weights

JUNK: list[Any] = [
    True, 7, -1, 2.5, "text", [], {}, [1], ["a"], [[]], [{}], {"a": 1}, {"a": {}}, {"a": {"b": "c"}}, 10**30,
]  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture
def folder(writer: RunWriter) -> Path:
    """A finished run with a reading and weights."""
    writer.scalars(0, "loss", [0, 1], np.ones((2, 3)))
    writer.reading(1, 0, "entropy", PerHead(columns={"mean": np.zeros((3, 1, 2))}, unit="nats"))
    writer.weights(1, 0, np.ones((3, 4), dtype=np.float32))
    writer.weights(1, 1, np.ones((3, 4), dtype=np.float32))
    writer.status("done", 1, 3.0)
    writer.close()
    return writer.path


def tell(folder: Path, key: str, value: Any) -> None:
    with closing(sqlite3.connect(folder / "run.sqlite")) as db, db:
        db.execute("INSERT OR REPLACE INTO meta VALUES(?, ?)", (key, json.dumps(value)))


@given(key=st.sampled_from([*DESCRIBED, "layout/0", "reading/0/x"]), value=JSON)
def test_no_value_is_too_odd_to_be_judged(key: str, value: Any) -> None:
    assert isinstance(fault_of(key, value), str)
    assert numbers_of(value) >= 0


@pytest.mark.parametrize("key", VITAL)
def test_without_what_is_vital_a_run_is_refused_by_name(folder: Path, key: str) -> None:
    unsound = [junk for junk in JUNK if fault_of(key, junk)]
    assert unsound
    for junk in unsound:
        tell(folder, key, junk)
        with pytest.raises(RunUnavailable, match="run.sqlite") as refused:
            open_run(folder)
        assert str(refused.value).count(".") < 4 and f"{key}" in str(refused.value)
        with pytest.raises(RunUnavailable):
            RunWriter.resume(folder, json.loads((folder / "experiment.json").read_text()))
        assert not check_folder(folder).sound


@pytest.mark.parametrize("key", [key for key in DESCRIBED if key not in VITAL])
def test_what_is_not_vital_counts_as_not_recorded_and_is_named_by_check(folder: Path, key: str) -> None:
    for junk in [junk for junk in JUNK if fault_of(key, junk)]:
        tell(folder, key, junk)
        with open_run(folder) as run:
            assert run.meta(key) is None
            assert engine_sentences(run.meta("engines")) == [] and from_plain(run.meta("questions")) == []
        assert key in check_folder(folder).damage[0][1]


def test_a_reading_whose_words_are_damaged_means_nothing_and_says_why(folder: Path) -> None:
    tell(folder, "reading/0/entropy", {"type": "PerHead", "columns": 3})
    with open_run(folder) as run:
        answer = run.reading("entropy", 1, run.arms[0])
        assert isinstance(answer, NotApplicable) and "`check` names" in answer.reason
        assert "not_applicable" in run.reading_meta("entropy", 1, run.arms[0])


def test_a_layout_that_is_none_is_named_where_weights_are_written(folder: Path, tmp_path: Path) -> None:
    tell(folder, "layout/0", {"names": "w", "shapes": [[2]]})
    with open_run(folder) as run, pytest.raises(RunUnavailable, match="'layout/0'"):
        write_weights(run, tmp_path / "w.safetensors")
    for arm in (0, 1):
        tell(folder, f"layout/{arm}", {"names": ["w"], "shapes": [[9]]})
    with open_run(folder) as run, pytest.raises(Exception, match="names 9 weights of arm .* stores 4"):
        write_weights(run, tmp_path / "w.safetensors")


def test_what_encode_writes_is_a_reading_and_losing_any_part_of_it_never_crashes() -> None:
    _, meta = encode(PerHead(columns={"mean": np.zeros((3, 1, 2))}, unit="nats"))
    assert is_reading(meta) and is_reading({"not_applicable": "no keys"})
    assert not is_reading(meta | {"type": "Spectrum"}) and not is_reading(meta | {"log": "yes"})
    for key in meta:
        assert is_reading({k: v for k, v in meta.items() if k != key}) is (key not in ("type", "columns"))


@pytest.mark.parametrize(("name", "value"), [("step", -1), ("step", 1.5), ("seconds", -1.0), ("state", "x")])
def test_a_status_has_bounds(name: str, value: Any) -> None:
    status = {"state": "done", "step": 3, "seconds": 1.0, "reason": ""}
    assert fault_of("status", status) == ""
    assert fault_of("status", status | {name: value})
    assert fault_of("status", status | {"arm_seconds": {"a": math.inf}})


def test_what_was_looked_at_is_not_looked_at_again() -> None:
    assert sound_of({"engines": 5, "notes": ["a"], "mine": 3}, {}) == {"notes": ["a"], "mine": 3}
    assert sound_of({"notes": 5}, {"notes": 5}) == {"notes": 5}
    with pytest.raises(ValueError, match="'notes' is not a list of sentences"):
        sound_of({"notes": 5}, {"notes": ["a"]})


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("created", "yesterday", "'created' is not a time"),
        ("created", -5, "'created' is not a time"),
        ("created", 1e300, "'created' is not a time"),
        ("engines", ["torch"], "'engines' is not an engine and a reason by arm"),
        ("engines", {"standard": {"engine": 5}}, "'engines' is not"),
        ("device", 7, "'device' is not a device"),
        ("layout/0", {"names": ["w"], "shapes": [[-2]]}, "'layout/0' is not names"),
        ("layout/0", {"names": ["w"], "shapes": []}, "'layout/0' is not names"),
        ("layout/9", {"names": [], "shapes": []}, "'layout/9' is of arm 9, and"),
        ("questions", [{"what": 3}], "'questions' is not a list of questions"),
        ("questions", {}, "'questions' is not a list of questions"),
        ("changes", [{"step": "x", "arm": "a", "key": "k", "value": 1}], "'changes' "),
        ("changes", [{"step": 1, "arm": "a", "key": "k", "value": "x"}], "'changes' "),
        ("changes_answered", "x", "'changes_answered' is not a count"),
        ("parent", {"run": 5, "step": 1}, "'parent' is not"),
        ("parent", {"run": "a", "step": 1, "changed": "all"}, "'parent' is not"),
        ("thinned", {"steps": -1}, "'thinned' is not a count"),
        ("waiting", [{"kind": "a", "step": "x"}], "'waiting' is not a list"),
        ("migrated", 7, "'migrated' is not a list"),
        ("target", {"curve": "x", "value": 1e300}, "'target' is not a curve"),
        ("lines", {"loss": {"chance": 1e300}}, "'lines' is not finite"),
        ("task", {"token_labels": [1]}, "'task' is not a table of"),
        ("reading/0/attention entropy", 7, "not a reading's type, columns and"),
        ("reading/0/x", {"type": "PerHead"}, "is not a reading's type"),
        ("reading/0/x", {"type": "PerHead", "columns": ["a"], "unit": []}, "reading's"),
        ("reading/0/x", {"not_applicable": 5}, "is not a reading's type"),
        ("reading/7/x", {"not_applicable": "no"}, "of arm 7, and there are 2"),
    ],
)
def test_check_says_of_what_kind_a_value_is_not(folder: Path, key: str, value: Any, says: str) -> None:
    tell(folder, key, value)
    ((file, fault), *more) = check_folder(folder).damage
    assert file == "run.sqlite" and says in fault and not more


def test_weights_shorter_than_their_layout_are_damage(folder: Path) -> None:
    tell(folder, "layout/1", {"names": ["w"], "shapes": [[5]]})
    assert check_folder(folder).damage == [
        (
            "run.sqlite, table snapshots",
            "theta at step 1: [3, 4] holds less than the 5 numbers that its layout names",
        )
    ]


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": NaN}', "5", "1e999", "{"])
@pytest.mark.parametrize("key", ["arms", "seeds", "experiment"])
def test_no_text_in_the_place_of_what_a_run_is_of_ends_a_check_in_an_error(
    folder: Path, key: str, text: str
) -> None:
    with closing(sqlite3.connect(folder / "run.sqlite")) as db, db:
        db.execute("INSERT OR REPLACE INTO meta VALUES(?, ?)", (key, text))
    assert check_folder(folder).damage


@pytest.mark.parametrize("row", [(1, 2, 0, "junk"), (1, "x", 0, "[]"), ("x", 2, 0, "[]"), (1, 2, 0, "[5]")])
def test_late_readings_that_are_none_are_named(folder: Path, row: tuple[Any, ...]) -> None:
    with closing(sqlite3.connect(folder / "run.sqlite")) as db, db:
        db.execute("DROP TABLE late")
        db.execute("CREATE TABLE late(id INTEGER PRIMARY KEY, step, at, overtaken, kinds)")
        db.execute("INSERT INTO late(step, at, overtaken, kinds) VALUES(?, ?, ?, ?)", row)
    (damage,) = check_folder(folder).damage
    assert damage[0].endswith("table late")
    with pytest.raises(RunUnavailable), open_run(folder) as run:
        run.since(0)


def test_an_odd_fork_is_no_experiment(folder: Path) -> None:
    plain = json.loads((folder / "experiment.json").read_text())
    plain["fork"] = {"run": "../../../etc/passwd", "step": -1, "stages": "x", "values": 5}
    (folder / "experiment.json").write_text(json.dumps(plain))
    tell(folder, "experiment", plain)
    assert "which is no fork" in check_folder(folder).damage[0][1]
