"""`train`, `show`, `export` and `list` from end to end, in processes of their own where signals matter."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
import tomli_w

import sandbox
from sandbox.cli import main
from sandbox.experiment.experiment import load
from sandbox.foundations.errors import SandboxError
from sandbox.store import open_run
from tests.runner.small import assert_same_numbers, tiny, tiny_experiment

ROOT = Path(__file__).resolve().parents[2]
CapSys = pytest.CaptureFixture[str]


def python_m_sandbox(*argv: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "sandbox", *argv],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.fixture
def file(tmp_path: Path) -> str:
    """The tiny experiment as a TOML file."""
    path = tmp_path / "tiny.toml"
    path.write_text(tomli_w.dumps(load(tiny(steps=6)).to_plain()))
    return str(path)


@pytest.mark.slow
def test_train_show_export_and_list(tmp_path: Path, file: str, runs_folder: Path) -> None:
    out = runs_folder / "first"
    process = python_m_sandbox("train", file, "--out", str(out), "--seeds", "3,11", "--json")
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    answer = json.loads(stdout)
    assert answer["run"] == str(out) and answer["state"] == "done" and "training into" in stderr
    run = open_run(out)
    for arm in run.arms:
        for seed in run.seeds:
            numbers = answer["arms"][arm][str(seed)]
            assert numbers["final"]["test_accuracy"] == run.curve("test_accuracy", arm, seed)[1][-1]
            assert numbers["best"]["test_accuracy"] == run.curve("test_accuracy", arm, seed)[1].max()
            assert numbers["best"]["loss"] == run.curve("loss", arm, seed)[1].min()
    assert_same_numbers(sandbox.train(tiny_experiment(steps=6), out=tmp_path / "here"), run)


@pytest.mark.slow
def test_a_run_is_found_by_id_and_by_path_and_exported(
    tmp_path: Path, capsys: CapSys, runs_folder: Path
) -> None:
    sandbox.train(tiny_experiment(steps=3), out=runs_folder / "brisk-otter-000000")
    for name in ("brisk-otter-000000", str(runs_folder / "brisk-otter-000000")):
        assert main(["show", name]) == 0
        assert "spectral:shift=0.5" in capsys.readouterr().out
    assert main(["show", "brisk-otter-000000", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [arm["arm"] for arm in shown["summary"]] == ["standard", "spectral:shift=0.5"]
    assert main(["list", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)["runs"]
    assert (listed["id"], listed["state"], listed["step"]) == ("brisk-otter-000000", "done", 3)
    for to, target in (
        ("csv", "t.csv"),
        ("zip", "t.zip"),
        ("python", "t.py"),
        ("html", "t.html"),
        ("parquet", "t.parquet"),
    ):
        assert main(["export", "brisk-otter-000000", "--to", to, "-o", str(tmp_path / target)]) == 0
    capsys.readouterr()
    with open(tmp_path / "t.csv", newline="") as table:
        rows = list(csv.DictReader(table))
    assert len([row for row in rows if row["name"] == "loss"]) == 2 * 2 * 3
    assert any(name.endswith("run.sqlite") for name in zipfile.ZipFile(tmp_path / "t.zip").namelist())
    compile((tmp_path / "t.py").read_text(), "t.py", "exec")
    report = (tmp_path / "t.html").read_text()
    assert "What each arm reached" in report and "acs-recording" in report and 'src="http' not in report


@pytest.mark.slow
def test_ctrl_c_writes_a_checkpoint_and_the_same_command_resumes(tmp_path: Path, runs_folder: Path) -> None:
    path = tmp_path / "long.json"
    path.write_text(json.dumps(tiny(steps=150)))
    out = tmp_path / "long"
    process = python_m_sandbox("train", str(path), "--out", str(out))
    while not _has_trained(out):
        assert process.poll() is None
        time.sleep(0.02)
    assert os.getpgid(process.pid) == process.pid
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 0 and "resume" in stderr
    status = open_run(out).status
    assert status["state"] == "stopped" and 0 < status["step"] < 150
    for folder in (out, tmp_path / "whole"):
        again = python_m_sandbox("train", str(path), "--out", str(folder))
        _, stderr = again.communicate(timeout=120)
        assert again.returncode == 0, stderr
    assert_same_numbers(open_run(tmp_path / "whole"), open_run(out))


def test_another_experiment_into_the_same_folder_is_bad_input(
    tmp_path: Path, file: str, capsys: CapSys
) -> None:
    out = str(tmp_path / "run")
    assert main(["train", file, "--out", out]) == 0
    capsys.readouterr()
    assert main(["train", file, "--out", out, "--set", "batch_size=7"]) == 2
    assert "different experiment" in capsys.readouterr().err


BAD = {
    "task.length=nan": "whole number",
    "task.length=1e400": "finite|whole number",
    "task.n_train=99999999999": "between",
    "model.depth=3": "no setting",
    "optimizer.learning_rate=inf": "finite",
    "surprise=1": "no setting",
    "steps=0": "between",
    "steps=1e30": "between",
    "steps=maybe": "whole number",
    "batch_size": "KEY=VALUE",
    "task.length.deep=1": "no settings",
}


@pytest.mark.parametrize(("setting", "reason"), BAD.items())
def test_a_bad_setting_gets_one_sentence_and_changes_nothing(
    tmp_path: Path, file: str, capsys: CapSys, setting: str, reason: str
) -> None:
    assert main(["train", file, "--set", setting, "--out", str(tmp_path / "run")]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and any(word in err for word in reason.split("|"))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (["--preset", "nonsense"], "preset"),
        (["--task", "nonsense"], "task"),
        (["--arm", "nonsense"], "arm kind"),
        (["--arm", "spectral:shift=nan"], "finite"),
        (["--arm", "spectral:shift"], "key=value"),
        (["--arm", "spectral:shift=0.5", "--arm", "spectral:shift=0.5"], "Two arms"),
        (["--seeds", "1000000000000"], "1 to 128"),
        (["--seeds", "1,1"], "once"),
        (["--seeds", ""], "--seeds is ''"),
        (["--preset", ""], "preset"),
        (["--task", ""], "task"),
        (["--steps", ""], "steps"),
        ([""], "is no file"),
        (["--seeds=-3,"], "between"),
        (["missing.toml"], "missing.toml"),
        (["--device", "abacus"], "--device"),
        (["--steps", "1000000", "--seeds", "128", "--set", "batch_size=4096"], "may use"),
    ],
)
def test_a_bad_option_gets_one_sentence_and_changes_nothing(
    tmp_path: Path, capsys: CapSys, argv: list[str], reason: str
) -> None:
    assert main(["train", *argv, "--out", str(tmp_path / "run")]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and reason in err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("text", ["{", '{"steps": NaN}', "[1]", '{"arms": 5}', '{"schema": 99}', "[" * 5000])
def test_a_file_that_is_no_experiment_gets_one_sentence(tmp_path: Path, capsys: CapSys, text: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    assert main(["train", str(path), "--out", str(tmp_path / "run")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_run_whose_trainer_died_is_listed_as_interrupted(capsys: CapSys, runs_folder: Path) -> None:
    from sandbox.runner.execution import Execution

    execution = Execution(tiny_experiment(steps=3), runs_folder / "dead-duck-000000")
    execution._commit("running")
    execution._writer.close()  # as the kernel does when a process is killed
    execution._control.close()
    assert main(["list", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)["runs"]
    assert listed["state"] == "interrupted"


def test_nothing_is_found_under_a_name_that_is_no_run(capsys: CapSys) -> None:
    assert main(["show", "no-such-run"]) == 2
    assert "no-such-run" in capsys.readouterr().err
    assert main(["list"]) == 0
    assert "no runs" in capsys.readouterr().out


def test_the_public_names_are_there_without_loading_torch() -> None:
    script = "import sys, sandbox; print(sandbox.__all__, 'torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "['load', 'open_run', 'train'] False\n"
    assert sandbox.load(tiny()).to_plain() == tiny_experiment().to_plain()
    with pytest.raises(AttributeError, match="nonsense"):
        _ = sandbox.nonsense


def _has_trained(folder: Path) -> bool:
    try:
        with open_run(folder) as run:
            return len(run.group_curve("loss", "standard")[0]) > 0
    except SandboxError:
        return False


def test_a_run_says_which_engine_trained_it_and_why(tmp_path: Path, capsys: CapSys) -> None:
    folder = tmp_path / "run"
    small = [
        "--set",
        "task.n_train=64",
        "--set",
        "task.n_test=64",
        "--set",
        "model.d_model=4",
        "--steps",
        "2",
    ]
    assert main(["train", "--seeds", "1", *small, "--engine", "torch", "--out", str(folder), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["engines"] == {"standard": {"engine": "torch", "reason": "asked for"}}
    assert main(["show", str(folder)]) == 0
    assert "standard: torch engine (asked for)" in capsys.readouterr().out
    nystrom = ["--arm", "nystrom", "--engine", "native", "--out", str(tmp_path / "none")]
    assert main(["train", "--seeds", "1", *small, *nystrom]) == 2
    assert "native engine cannot train this" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()
