"""`sweep`: points are ordinary runs, the same command goes on, and faults are said before anything starts."""

import json
from pathlib import Path

import pytest

from sandbox.cli import main
from sandbox.experiment.experiment import load
from sandbox.experiment.sweep import load_sweep
from sandbox.runner.execution import Execution
from sandbox.runner.sweeping import standings
from sandbox.runner.training import train
from sandbox.store import open_run
from sandbox.store.study import new_study, point_id, read_study, studies, study_id, write_study

pytestmark = pytest.mark.slow

HOW_WIDE = study_id("How wide?", "local")
SWEEP = """
name = "How wide?"
seeds = 2
arms = ["standard", "spectral:shift=0.5"]
[experiment]
batch_size = 8
evaluate_every = 4
steps = 6
model = { kind = "encoder", d_model = 4, n_heads = 2, n_layers = 1, d_ff = 6 }
[experiment.task]
kind = "sparse modular addition"
length = 5
n_terms = 2
n_train = 64
n_test = 32
split = "overlapping"
[grid]
model.d_model = [4, 6]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "wide.toml"
    path.write_text(SWEEP)
    return path


def test_points_are_run_folders_and_are_not_repeated(
    file: Path, runs_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", str(file), "--foreground", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [point["values"] for point in said["points"]] == [{"model.d_model": 4}, {"model.d_model": 6}]
    study = read_study(HOW_WIDE)
    for point, told in zip(study.points, said["points"], strict=True):
        with open_run(runs_folder / point.run) as run:
            assert run.status["state"] == point.state == told["state"] == "done"
            assert run.experiment == point.plain == load(point.plain).to_plain()
            final = told["arms"]["standard"]["1"]["final"]["test_accuracy"]
            assert final == run.group_curve("test_accuracy", "standard")[1][-1, 1]
    stamps = {path: path.stat().st_mtime_ns for path in runs_folder.rglob("run.sqlite")}
    file.write_text(SWEEP.replace("[4, 6]", "[4, 6, 8]"))
    assert main(["sweep", str(file), "--foreground"]) == 0
    captured = capsys.readouterr()
    assert "point 3 of 3: model.d_model = 8" in captured.err and "point 1 of 3" not in captured.err
    assert "2 of its 3 points were in it before" in captured.err and captured.out.count("done") == 6
    assert {path: path.stat().st_mtime_ns for path in stamps} == stamps


def test_a_point_that_was_cut_short_goes_on_to_the_same_numbers(
    file: Path, runs_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    point = load_sweep(file).points[1]
    folder = runs_folder / point_id(HOW_WIDE, point.experiment.to_plain())
    execution = Execution(point.experiment, folder)
    execution.interrupt()
    assert execution.run()[0] == "stopped"
    assert main(["sweep", str(file), "--foreground"]) == 0
    alone = train(point.experiment, out=runs_folder / "alone")
    with open_run(folder) as run:
        steps, losses = run.group_curve("loss", "standard")
        assert (losses == alone.group_curve("loss", "standard")[1]).all() and len(steps) == 6


def test_a_failed_point_leaves_the_others_their_results(file: Path, runs_folder: Path) -> None:
    assert main(["sweep", str(file), "--foreground"]) == 0
    first = read_study(HOW_WIDE).points[0].run
    (runs_folder / first / "run.sqlite").write_bytes(b"no database at all" * 500)
    assert main(["sweep", str(file), "--foreground"]) == 1
    assert [one.state for one in standings(read_study(HOW_WIDE))] == ["damaged", "done"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("[4, 6]", "[4, 5]"), "Point 2 (model.d_model = 5)"),
        (("steps = 6", "steps = 900_000"), "lower the steps"),
        (("[grid]", "[gird]"), "gird"),
    ],
)
def test_what_is_wrong_is_one_sentence_before_anything_starts(
    file: Path,
    runs_folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    change: tuple[str, str],
    words: str,
) -> None:
    monkeypatch.setenv("SANDBOX_MAX_STEPS", "1000")
    file.write_text(SWEEP.replace(*change))
    assert main(["sweep", str(file), "--foreground"]) == 2
    captured = capsys.readouterr()
    assert words.lower() in captured.err.lower() and captured.err.count("\n") == 1 and not captured.out
    assert studies() == [] and not list(runs_folder.glob("how-wide*"))


def test_out_names_another_runs_folder(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_RUNS", str(tmp_path / "unused"))
    assert main(["sweep", str(file), "--foreground", "--out", str(tmp_path / "mine")]) == 0
    assert (tmp_path / "mine" / "studies" / f"{HOW_WIDE}.json").is_file() and not (
        tmp_path / "unused"
    ).exists()


def test_studies_of_other_names_or_owners_never_meet(runs_folder: Path) -> None:
    named = [
        ("How wide?", "ann"),
        ("How wide", "ann"),
        ("how-wide", "ann"),
        ("How wide?", "bob"),
        ("x" * 80, "a"),
    ]
    ids = [study_id(*one) for one in named]
    assert len(set(ids)) == len(named) and study_id(*named[0]) == ids[0]
    assert all(one.startswith("how-wide-") for one in ids[:4])
    assert len(point_id(ids[-1], {"steps": 1})) <= 64
    for name, owner in named:
        write_study(new_study(name, owner, "cpu", (), ()))
    assert {(study.name, study.owner) for study in studies()} == set(named)
