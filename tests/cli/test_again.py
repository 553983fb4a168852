"""What an export says trains a run again does so, to the last bit; other exports from the command line."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from PIL import Image
from safetensors.numpy import load_file

import sandbox
from sandbox.cli import main
from sandbox.store import Run, open_run
from tests.runner.small import assert_same_numbers, tiny, tiny_experiment

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
CapSys = pytest.CaptureFixture[str]


@pytest.fixture
def run(runs_folder: Path) -> Run:
    return sandbox.train(tiny_experiment(steps=4), out=runs_folder / "brisk-otter-000000")


def exported(to: str, out: Path, capsys: CapSys, *more: str) -> Path:
    assert main(["export", "brisk-otter-000000", "--to", to, "-o", str(out), *more]) == 0
    path = Path(capsys.readouterr().out.strip())
    assert path == out
    return path


def test_the_script_trains_the_same_bits(run: Run, tmp_path: Path, capsys: CapSys) -> None:
    script = exported("python", tmp_path / "again.py", capsys)
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    again = open_run(tmp_path / "brisk-otter-000000-again")
    assert_same_numbers(again, run)
    assert len(done.stdout.splitlines()) == len(run.arms) * len(run.seeds)


def test_the_toml_trains_the_same_bits(run: Run, tmp_path: Path, capsys: CapSys) -> None:
    path = exported("toml", tmp_path / "again.toml", capsys)
    assert tomllib.loads(path.read_text()) == run.experiment
    assert_same_numbers(sandbox.train(sandbox.load(path), out=tmp_path / "again"), run)


def test_a_replay_a_film_and_weights_come_from_the_command_line(
    run: Run, tmp_path: Path, capsys: CapSys
) -> None:
    page = exported("html", tmp_path / "a.html", capsys, "--megabytes", "2")
    assert "acs-recording" in page.read_text() and page.stat().st_size < 2_000_000
    film = exported("gif", tmp_path / "a.gif", capsys, "--seconds", "1", "--dark")
    with Image.open(film) as opened:
        assert opened.n_frames == 10  # type: ignore[attr-defined]
    weights = load_file(exported("safetensors", tmp_path / "a.safetensors", capsys))
    assert {name.split("/")[0] for name in weights} == set(run.arms)


def test_progress_goes_to_standard_error_where_it_is_asked_for(
    run: Run, tmp_path: Path, capsys: CapSys
) -> None:
    arguments = ["export", run.id, "--to", "gif", "--seconds", "1", "-o", str(tmp_path / "a.gif")]
    assert main(arguments) == 0
    assert capsys.readouterr().err == ""
    assert main([*arguments, "--progress"]) == 0
    said = [int(line) for line in capsys.readouterr().err.splitlines()]
    assert said == sorted(said) and said[0] == 0 and said[-1] == 90


def test_a_run_of_one_seed_is_shown(tmp_path: Path, capsys: CapSys) -> None:
    sandbox.train(sandbox.load({**tiny(steps=2), "seeds": [0]}), out=tmp_path / "one")
    assert main(["show", str(tmp_path / "one")]) == 0
    said = capsys.readouterr().out
    assert "spectral:shift=0.5" in said
    assert "held-out accuracy" in said and "test accuracy" not in said  # the pages' word
