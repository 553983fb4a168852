"""`fork` on the command line: a new run that goes on from another, and one sentence on bad input."""

import json
from pathlib import Path

import numpy as np
import pytest

import sandbox
from sandbox.cli import main
from sandbox.store import Run, open_run
from sandbox.store.export import export
from sandbox.store.importing import import_run
from tests.runner.small import tiny_experiment

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def parent(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return sandbox.train(
        tiny_experiment(steps=12, seeds=[3, 11]), out=tmp_path_factory.mktemp("parent") / "old-parent"
    )


def test_a_fork_trains_in_the_foreground_and_names_its_parent(
    parent: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "child"
    command = ["fork", str(parent.path), "--step", "8", "--steps", "+6", "--set", "projection.shift=2"]
    assert main([*command, "--seeds", "11", "--out", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["step"], told["steps"], told["state"]) == (14, 14, "done")
    child = open_run(out)
    assert child.experiment["fork"]["run"] == "old-parent" and child.seeds == (11,)
    assert child.meta("parent")["changed"] == [
        "steps 12 to 14",
        "spectral:shift=0.5: projection.shift 0.5 to 2",
        "1 of 2 seeds",
    ]
    assert main([*command, "--seeds", "11", "--out", str(out)]) == 0  # resumed, which is to say done
    assert main([*command, "--out", str(out)]) == 2
    assert "different experiment" in capsys.readouterr().err


def test_without_a_step_it_goes_on_from_the_last(
    parent: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fork", str(parent.path), "--steps", "14", "--out", str(tmp_path / "child")]) == 0
    child, whole = (
        open_run(tmp_path / "child"),
        sandbox.train(tiny_experiment(steps=14), tmp_path / "whole"),
    )
    np.testing.assert_array_equal(child.weights(14, "standard"), whole.weights(14, "standard"))
    capsys.readouterr()


def test_a_fork_survives_its_way_through_an_archive(
    parent: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fork", str(parent.path), "--step", "5", "--out", str(tmp_path / "child")]) == 0
    child = open_run(tmp_path / "child")
    brought = open_run(import_run(export(child, "zip", tmp_path / "child.zip"), "child.zip", tmp_path / "in"))
    assert (brought.path / "start.safetensors").read_bytes() == (
        child.path / "start.safetensors"
    ).read_bytes()
    assert main(["check", str(brought.path)]) == 0
    assert main(["fork", str(brought.path), "--step", "6", "--out", str(tmp_path / "next")]) == 0
    np.testing.assert_array_equal(
        open_run(tmp_path / "next").weights(12, "standard"), parent.weights(12, "standard")
    )
    (brought.path / "start.safetensors").write_bytes(b"cut")
    assert main(["check", str(brought.path)]) != 0
    assert "start.safetensors" in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--step", "99"], "trained from 0 to 12"),
        ([], "give a higher limit"),
        (["--step", "4", "--set", "model.d_model=8"], "parent's model"),
        (["--step", "4", "--set", "batch_size"], "KEY=VALUE"),
        (["--step", "4", "--seeds", "7"], "has no seed 7"),
        (["--step", "4", "--seeds", "x"], "--seeds"),
        (["--step", "4", "--steps", "soon"], "step limit"),
        (["--step", "4", "--arm", "other"], "no arm 'other'"),
        (["--step", "x"], "--step"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_no_folder(
    parent: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    out = tmp_path / "child"
    assert main(["fork", str(parent.path), "--out", str(out), *options]) == 2
    said = capsys.readouterr()
    assert words in said.err and said.err.count("\n") == 1 and said.out == ""
    assert not out.exists()
