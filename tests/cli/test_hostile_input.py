"""What was made to break the commands is refused in one sentence, with exit code 2."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from sandbox.cli import main
from tests.cli.test_commands import CapSys, refused, saved


def test_theta_of_weights_too_large_to_add_up_is_refused_or_finite(tmp_path: Path, capsys: CapSys) -> None:
    assert "Row 0 sums to inf" in refused(capsys, "theta", saved(tmp_path, np.full((1, 4), 1e308)))
    path = saved(tmp_path, np.full((1, 4), 1e299))
    assert main(["theta", path, "--tolerance", "1e300", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)["rows"][0]
    assert row["p_max"] == pytest.approx(0.25) and row["entropy"] == pytest.approx(np.log(4))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_condition_names_the_first_entry_that_is_no_number(
    tmp_path: Path, capsys: CapSys, value: float
) -> None:
    matrix = np.eye(3)
    matrix[1, 2] = value
    assert f"(1, 2) is {value}" in refused(capsys, "condition", saved(tmp_path, matrix))


@pytest.mark.parametrize("header", [b"(" * 5000, b"{'descr': '''", b"{\n  1\n 2", b"-" * 9000 + b"1", b"\0"])
def test_crafted_array_headers_are_refused(tmp_path: Path, capsys: CapSys, header: bytes) -> None:
    file = tmp_path / "crafted.npy"
    file.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    assert "crafted.npy cannot be read" in refused(capsys, "theta", str(file))


def test_an_empty_csv_is_refused(tmp_path: Path, capsys: CapSys) -> None:
    (tmp_path / "empty.csv").write_text("")
    assert "at least one number" in refused(capsys, "theta", str(tmp_path / "empty.csv"))


@pytest.mark.parametrize("command", [["show"], ["export", "--to", "csv"], ["theta"], ["train"]])
def test_a_name_too_long_for_a_file_is_refused(capsys: CapSys, runs_folder: Path, command: list[str]) -> None:
    refused(capsys, *command, "x" * 300 + (".npy" if command == ["theta"] else ""))


def test_a_device_that_is_not_there_leaves_no_folder(
    tmp_path: Path, capsys: CapSys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert "cuda" in refused(capsys, "train", "--device", "cuda", "--out", str(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_one_damaged_folder_keeps_no_other_from_being_listed(capsys: CapSys, runs_folder: Path) -> None:
    texts = {"nan": '{"x": NaN}', "deep": "[" * 100_000, "none": "", "sound": "{}"}
    for name, text in texts.items():
        (runs_folder / name).mkdir(parents=True)
        (runs_folder / name / "experiment.json").write_text(text)
    assert main(["list", "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert {run["id"]: run["state"] for run in runs} == dict.fromkeys(texts, "unreadable")
    for name in texts:
        assert "experiment.json" in refused(capsys, "show", name)
        assert "experiment.json" in refused(capsys, "export", name, "--to", "csv")


def test_serve_refuses_a_runs_folder_that_cannot_be_written(
    tmp_path: Path, capsys: CapSys, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SANDBOX_RUNS", str(tmp_path / "file"))
    assert "cannot be written" in refused(capsys, "serve", "--port", "18999")


@pytest.mark.parametrize(
    "command", [["train"], ["sweep"], ["import"], ["listops", "check"], ["theta"], ["condition"]]
)
def test_a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for(
    command: list[str], tmp_path: Path, capsys: CapSys
) -> None:
    pipe = tmp_path / "p.toml"
    os.mkfifo(pipe)
    assert "file" in refused(capsys, *command, str(pipe))
