"""What is recorded comes back; one writer at a time; one experiment per folder."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.errors import InvalidData, RunUnavailable
from sandbox.foundations.readings import AttentionMap, PerHead, Provenance, Trajectory
from sandbox.store import Event, RunWriter, open_run

STANDARD, SPECTRAL = "standard", "spectral:shift=0.5"


def entropy(step: int, note: str = "") -> PerHead:
    values = np.arange(3 * 2 * 5, dtype=np.float64).reshape(3, 2, 5) + step
    return PerHead(columns={"mean": values, "least": -values}, unit="nats", provenance=Provenance(note=note))


def test_scalars_come_back_by_arm_and_seed_with_nan_and_infinity(writer: RunWriter) -> None:
    values = np.array([[1.0, 2.0, 3.0], [np.nan, np.inf, -np.inf]])
    writer.scalars(SPECTRAL, "loss", [1, 2], values)
    writer.commit()
    run = open_run(writer.path)
    steps, back = run.group_curve("loss", SPECTRAL)
    np.testing.assert_array_equal(steps, [1, 2])
    np.testing.assert_array_equal(back, values)
    np.testing.assert_array_equal(run.curve("loss", SPECTRAL, 3)[1], [3.0, -np.inf])
    assert len(run.curve("loss", STANDARD, 5)[0]) == 0
    assert run.scalar_names() == run.scalar_names(SPECTRAL) == ["loss"]
    assert run.scalar_names(STANDARD) == []


@settings(max_examples=20)
@given(
    rows=st.dictionaries(st.integers(0, 2**40), st.lists(st.floats(), min_size=3, max_size=3), max_size=30)
)
def test_any_float_is_stored_bit_for_bit(
    tmp_path_factory: pytest.TempPathFactory, rows: dict[int, list[float]]
) -> None:
    folder = tmp_path_factory.mktemp("bits")
    with RunWriter.create(folder, {"steps": 9, "arms": [{"name": "a"}], "seeds": [0, 1, 2]}) as writer:
        writer.scalars("a", "loss", list(rows), np.array(list(rows.values())).reshape(-1, 3))
    with open_run(folder) as run:
        steps, back = run.group_curve("loss", "a")
    assert steps.tolist() == sorted(rows)
    assert back.tobytes() == np.array([rows[step] for step in sorted(rows)]).tobytes()


def test_a_step_recorded_twice_is_one_row_and_one_event(writer: RunWriter) -> None:
    for value in (1.0, 2.0):
        writer.scalars(0, "loss", [7], np.full((1, 3), value))
        writer.weights(7, 0, np.full((3, 4), value, dtype=np.float32))
        writer.event(7, "nan", f"seen {value}", arm=STANDARD, seed=3)
        writer.event(7, "mark")
        writer.commit()
    run = open_run(writer.path)
    assert run.group_curve("loss", STANDARD)[1].tolist() == [[2.0] * 3]
    assert run.weights(7, STANDARD).tolist() == [[2.0] * 4] * 3
    assert run.weights(7, STANDARD).dtype == np.float32
    assert run.events() == [
        Event(1, 7, "nan", "seen 2.0", STANDARD, 3),
        Event(2, 7, "mark", "", None, None),
    ]
    assert run.events(after=1) == run.events()[1:]


def test_nothing_is_seen_before_the_commit(writer: RunWriter) -> None:
    writer.scalars(0, "loss", [1], np.ones((1, 3)))
    run = open_run(writer.path)
    assert len(run.group_curve("loss", STANDARD)[0]) == 0
    writer.commit()
    assert len(run.group_curve("loss", STANDARD)[0]) == 1


def test_readings_of_every_type_come_back(writer: RunWriter) -> None:
    points = np.arange(12.0).reshape(3, 2, 2)
    path = Trajectory(
        points=points, labels=("a", "b"), groups=("x", "y"), explained_variance=np.full((3, 2), 0.5)
    )
    weights = np.arange(3 * 2 * 1 * 2 * 2, dtype=np.float64).reshape(3, 2, 1, 2, 2)
    mask = np.array([[True, False], [True, True]])
    attention = AttentionMap(weights=weights, key_labels=("p", "q"), query_labels=("r", "s"), mask=mask)
    writer.reading(10, STANDARD, "attention entropy", entropy(10))
    writer.reading(20, STANDARD, "attention entropy", entropy(20))
    writer.reading(10, STANDARD, "trajectories", path)
    writer.reading(10, STANDARD, "attention map", attention)
    writer.reading(0, SPECTRAL, "condition numbers", NotApplicable("It has no key projection."))
    writer.commit()
    run = open_run(writer.path)
    assert run.reading_kinds(STANDARD) == ["attention entropy", "attention map", "trajectories"]
    assert run.reading_columns("attention entropy", STANDARD) == ["least", "mean"]
    assert run.reading_steps("attention entropy", STANDARD).tolist() == [10, 20]
    assert run.reading_steps("attention entropy", STANDARD, since=10).tolist() == [20]
    steps, column = run.reading_column("attention entropy", "mean", STANDARD)
    assert steps.tolist() == [10, 20]
    np.testing.assert_array_equal(column, [entropy(10).columns["mean"], entropy(20).columns["mean"]])
    one = run.reading("attention entropy", 20, STANDARD, seed=3)
    assert isinstance(one, PerHead)
    np.testing.assert_array_equal(one.columns["least"], entropy(20).columns["least"][2:])
    back = run.reading("trajectories", 10, STANDARD)
    assert isinstance(back, Trajectory)
    assert (back.labels, back.groups) == (("a", "b"), ("x", "y"))
    np.testing.assert_array_equal(back.points, points)
    shown = run.reading("attention map", 10, STANDARD)
    assert isinstance(shown, AttentionMap)
    np.testing.assert_array_equal(shown.mask, mask)
    np.testing.assert_array_equal(shown.weights, weights)
    assert run.reading("condition numbers", 33, SPECTRAL) == NotApplicable("It has no key projection.")


def test_a_reading_keeps_what_it_alone_says_about_its_step(writer: RunWriter) -> None:
    for step, note in ((1, "3 of 4 rows exact"), (2, "all rows exact"), (3, "3 of 4 rows exact")):
        writer.reading(step, STANDARD, "theta", entropy(step, note))
    writer.commit()
    run = open_run(writer.path)
    notes = [run.reading("theta", step, STANDARD).provenance.note for step in (1, 2, 3)]
    assert notes == ["3 of 4 rows exact", "all rows exact", "3 of 4 rows exact"]
    assert run.reading_columns("theta", STANDARD) == ["least", "mean"]


def test_a_question_beyond_what_is_stored_names_what_is(writer: RunWriter) -> None:
    writer.reading(10, STANDARD, "theta", entropy(10))
    writer.reading(40, STANDARD, "theta", entropy(40))
    writer.commit()
    run = open_run(writer.path)
    with pytest.raises(InvalidData, match=r"nearest are at 10 and 40\."):
        run.reading("theta", 12, STANDARD)
    with pytest.raises(InvalidData, match="no weights for arm 'standard'"):
        run.weights(10, STANDARD)
    with pytest.raises(InvalidData, match="no arm 'thirsty'; it has standard, spectral"):
        run.group_curve("loss", "thirsty")
    with pytest.raises(InvalidData, match="no seed 1; there are 5, 0, 3"):
        run.curve("loss", STANDARD, 1)


def test_facts_of_the_run_come_back(writer: RunWriter) -> None:
    writer.describe(lines={"chance": 0.5}, notes=["The split overlaps."], task={"token_labels": ["0", "1"]})
    writer.layout(SPECTRAL, {"names": ["w"], "shapes": [[2]]})
    writer.status("paused", 12, 3.5, "The disk is full.", arm_seconds={"standard": 1.0})
    writer.commit()
    run = open_run(writer.path)
    assert run.lines == {"chance": 0.5}
    assert run.notes == ["The split overlaps."]
    assert run.task == {"token_labels": ["0", "1"]}
    assert run.layout(SPECTRAL) == {"names": ["w"], "shapes": [[2]]}
    assert run.layout(STANDARD) is None
    assert run.status == {
        "state": "paused",
        "step": 12,
        "seconds": 3.5,
        "reason": "The disk is full.",
        "arm_seconds": {"standard": 1.0},
    }
    assert (run.id, run.arms, run.seeds) == ("brisk-otter-7", (STANDARD, SPECTRAL), (5, 0, 3))
    assert run.created > 1e9


def test_a_second_writer_is_refused_until_the_first_has_closed(
    writer: RunWriter, plain: dict[str, Any]
) -> None:
    with pytest.raises(RunUnavailable, match=r"being written by another process \(process \d+\)"):
        RunWriter.resume(writer.path, plain)
    resume = (
        "import sys, json; from sandbox.store import RunWriter\n"
        "from sandbox.foundations.errors import RunUnavailable\n"
        "try: RunWriter.resume(sys.argv[1], json.loads(sys.argv[2])).close()\n"
        "except RunUnavailable: sys.exit(2)"
    )
    command = [sys.executable, "-c", resume, str(writer.path), json.dumps(plain)]
    assert subprocess.run(command, check=False).returncode == 2
    writer.close()
    assert subprocess.run(command, check=False).returncode == 0


def test_a_folder_of_another_experiment_is_refused_and_left_as_it_was(
    runs_folder: Path, plain: dict[str, Any]
) -> None:
    RunWriter.create(runs_folder / "a", plain).close()
    before = (runs_folder / "a" / "experiment.json").read_bytes()
    with pytest.raises(RunUnavailable, match=r"different experiment \(other seeds, steps\)"):
        RunWriter.open(runs_folder / "a", plain | {"steps": 101, "seeds": [1]})
    with pytest.raises(RunUnavailable, match="holds a run already"):
        RunWriter.create(runs_folder / "a", plain)
    assert (runs_folder / "a" / "experiment.json").read_bytes() == before
    RunWriter.open(runs_folder / "a", dict(reversed(plain.items()))).close()


def test_there_is_nothing_to_resume_in_an_empty_folder(tmp_path: Path, plain: dict[str, Any]) -> None:
    with pytest.raises(RunUnavailable, match=r"experiment\.json is missing"):
        RunWriter.resume(tmp_path, plain)


def test_a_folder_prepared_with_its_experiment_alone_can_be_recorded(
    tmp_path: Path, plain: dict[str, Any]
) -> None:
    (tmp_path / "experiment.json").write_text(json.dumps(plain))
    RunWriter.open(tmp_path, plain).close()
    assert open_run(tmp_path).status["state"] == "queued"


def test_values_of_the_wrong_shape_are_refused(writer: RunWriter) -> None:
    with pytest.raises(ValueError, match="2 steps and 3 seeds"):
        writer.scalars(0, "loss", [1, 2], np.ones((2, 2)))
    with pytest.raises(ValueError, match="'asleep' is not one of"):
        writer.status("asleep", 0, 0.0)


@pytest.mark.parametrize("left", [None, b""])
def test_a_run_whose_database_is_gone_does_not_go_on_without_its_curves(
    tmp_path: Path, plain: dict[str, Any], left: bytes | None
) -> None:
    with RunWriter.create(tmp_path / "run", plain) as writer:
        writer.checkpoint(3, {"clock": np.zeros(3)})
    (tmp_path / "run" / "run.sqlite").unlink()
    if left is not None:
        (tmp_path / "run" / "run.sqlite").write_bytes(left)
    with pytest.raises(RunUnavailable, match="missing or empty beside checkpoints"):
        RunWriter.open(tmp_path / "run", plain)
