"""`show --diagnose`: a stored step is asked, the answer kept and printed; refusals are one sentence."""

import json
from pathlib import Path

import pytest

import sandbox
from sandbox.cli import main
from sandbox.store import open_run
from tests.runner.small import tiny_experiment

pytestmark = pytest.mark.slow

CapSys = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run."""
    return sandbox.train(tiny_experiment(steps=4), out=tmp_path_factory.mktemp("diagnosed") / "run").path


def test_the_answer_is_kept_and_printed_as_json(folder: Path, capsys: CapSys) -> None:
    assert main(["show", str(folder), "--diagnose", "layer norms", "--step", "3", "--json"]) == 0
    out, err = capsys.readouterr()
    answer = json.loads(out)
    assert (answer["kind"], answer["step"]) == ("layer norms", 3)
    assert set(answer["arms"]) == {"standard", "spectral:shift=0.5"}
    assert set(answer["arms"]["standard"]["seeds"]) == {"3", "11"}
    assert answer["arms"]["standard"]["provenance"]["exactness"]
    assert "of 4 read" in err
    assert 3 in open_run(folder).reading_steps("layer norms", "standard")


def test_the_last_stored_step_is_read_where_none_is_named(folder: Path, capsys: CapSys) -> None:
    assert main(["show", str(folder), "--diagnose", "theta"]) == 0
    out = capsys.readouterr().out
    assert "theta at step 4" in out and "median" in out


def test_what_does_not_apply_is_said(folder: Path, capsys: CapSys) -> None:
    assert main(["show", str(folder), "--diagnose", "visual weights"]) == 0
    assert "standard: does not apply: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--diagnose", "nonsense"], "'nonsense'"),
        (["--diagnose", "theta", "--step", "99"], "nearest"),
        (["--diagnose", "theta", "--step", "9007199254740993"], "no whole number from 0 to 2147483647"),
    ],
)
def test_refusals_are_one_sentence(folder: Path, capsys: CapSys, options: list[str], says: str) -> None:
    assert main(["show", str(folder), *options]) == 2
    out, err = capsys.readouterr()
    assert out == "" and says in err and err.count("\n") == 1
