"""The small commands: what they print, and how they refuse what cannot be used."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.cli import COMMANDS, main
from sandbox.cli.kinds import registered_kinds
from sandbox.cli.train_command import duration, read_seed_list
from sandbox.experiment.arm import arm_kinds
from sandbox.foundations.errors import InvalidKnob

ROOT = Path(__file__).resolve().parents[2]
CapSys = pytest.CaptureFixture[str]


def saved(folder: Path, array: np.ndarray) -> str:
    np.save(folder / "array.npy", array)
    return str(folder / "array.npy")


def refused(capsys: CapSys, *argv: str) -> str:
    """The one sentence with which the command line refuses `argv`."""
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    return err


def test_theta_brackets_each_row(tmp_path: Path, capsys: CapSys) -> None:
    rows = np.array([[0.5, 0.3, 0.2], [1 / 3, 1 / 3, 1 / 3], [0.7, 0.2, 0.1]])
    assert main(["theta", saved(tmp_path, rows), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    lower = [row["lower"] for row in answer["rows"]]
    np.testing.assert_allclose(lower, [1.0, 8 / 9, 4 * 0.7 * 0.3], atol=1e-12)
    assert answer["rows"][1]["p_max"] == pytest.approx(1 / 3)
    assert answer["rows"][1]["entropy"] == pytest.approx(np.log(3))
    assert all(row["exact"] for row in answer["rows"]) and answer["share_exact"] == 1.0


def test_theta_refuses_a_row_that_does_not_sum_to_one(tmp_path: Path, capsys: CapSys) -> None:
    path = saved(tmp_path, np.array([[0.5, 0.5], [0.9, 0.3]]))
    assert "Row 1 sums to 1.2" in refused(capsys, "theta", path)
    assert main(["theta", path, "--tolerance", "0.5"]) == 0


def test_theta_reads_csv_and_prints_a_line_per_row(tmp_path: Path, capsys: CapSys) -> None:
    (tmp_path / "rows.csv").write_text("0.5,0.5\n0.9,0.1\n")
    assert main(["theta", str(tmp_path / "rows.csv")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[1:3]] == [["0", "1"], ["1", "0.36"]]


@pytest.mark.parametrize("row", [[[0.5, -0.5]], [[np.nan, 1.0]], [[np.inf, 1.0]]])
def test_theta_names_the_row_that_cannot_be_used(
    tmp_path: Path, capsys: CapSys, row: list[list[float]]
) -> None:
    assert "Row 0" in refused(capsys, "theta", saved(tmp_path, np.array(row)))


def test_files_that_are_no_numbers_are_refused(tmp_path: Path, capsys: CapSys) -> None:
    (tmp_path / "bad.csv").write_text("a,b\n")
    (tmp_path / "bad.npy").write_bytes(b"not an array")
    np.save(tmp_path / "objects.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    for name in ("bad.csv", "bad.npy", "objects.npy", "missing.npy", "x.txt"):
        assert name in refused(capsys, "theta", str(tmp_path / name))


def test_condition_gives_both_ends_and_both_numbers(tmp_path: Path, capsys: CapSys) -> None:
    assert main(["condition", saved(tmp_path, np.diag([3.0, 2.0, 0.0])), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["largest"], answer["smallest"], answer["smallest_nonzero"]) == (3.0, 0.0, 2.0)
    assert (answer["kappa"], answer["kappa_nonzero"], answer["rank"]) == ("inf", 1.5, 2)
    assert main(["condition", saved(tmp_path, np.stack([np.eye(2), np.diag([4.0, 1.0])])), "--json"]) == 0
    assert [m["kappa"] for m in json.loads(capsys.readouterr().out)["matrices"]] == [1.0, 4.0]
    assert "shape" in refused(capsys, "condition", saved(tmp_path, np.ones(3)))


def test_listops_eval_prints_the_value(capsys: CapSys) -> None:
    assert main(["listops", "eval", "[MAX 2 9 [MIN 4 7 ] 0 ]"]) == 0
    assert capsys.readouterr().out == "9\n"


def test_listops_eval_names_position_and_reason(capsys: CapSys) -> None:
    sentence = refused(capsys, "listops", "eval", "[MAX 2 x ]")
    assert "'x'" in sentence and "character 8" in sentence


def test_a_sample_checks_out_right_and_a_changed_label_does_not(tmp_path: Path, capsys: CapSys) -> None:
    assert main(["listops", "sample", "--n", "20", "--seed", "7", "--max-length", "24"]) == 0
    sample = capsys.readouterr().out
    assert len(sample.splitlines()) == 20
    assert main(["listops", "sample", "--n", "20", "--seed", "7", "--max-length", "24"]) == 0
    assert capsys.readouterr().out == sample
    file = tmp_path / "rows.tsv"
    file.write_text(sample)
    assert main(["listops", "check", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_right"] == 20
    first, rest = sample.split("\t", 1)
    file.write_text(f"{(int(first) + 1) % 10}\t{rest}")
    assert main(["listops", "check", str(file)]) == 1
    assert "line 1" in capsys.readouterr().out


def test_doctor_names_versions_and_devices(capsys: CapSys) -> None:
    assert main(["doctor", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["packages"]["torch"].startswith("2.13") and "cpu" in answer["devices"]
    native = answer["engines"]["native"]
    assert native.startswith("built for ") or ("none: " in native and "make native" in native)
    assert answer["missing"] == []


def test_help_lists_every_command_and_every_arm_kind(capsys: CapSys) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(command in out for command in COMMANDS)
    assert main(["train", "--help"]) == 0
    out = capsys.readouterr().out
    assert all(kind in out for kind in arm_kinds())


def test_the_kinds_read_from_the_sources_are_those_that_are_registered() -> None:
    assert sorted(registered_kinds()) == sorted(arm_kinds())


@pytest.mark.parametrize(
    "argv",
    [["--help"], ["train", "--help"], ["theta", "missing.npy"], ["listops", "eval", "[MAX 1 2 ]"], ["list"]],
)
def test_what_does_not_train_starts_without_torch(argv: list[str]) -> None:
    script = f"import sys; from sandbox.cli import main; main({argv!r}); sys.exit('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("argv", [[], ["frobnicate"], ["theta"], ["export", "x", "--to", "xml"], ["listops"]])
def test_a_command_line_that_makes_no_sense_gets_one_sentence(capsys: CapSys, argv: list[str]) -> None:
    assert "--help" in refused(capsys, *argv)


@pytest.mark.parametrize(("text", "seeds"), [("3", [0, 1, 2]), ("5,2", [5, 2]), ("7,", [7]), ("1", [0])])
def test_seeds_are_a_count_or_a_list(text: str, seeds: list[int]) -> None:
    assert read_seed_list(text) == seeds


@given(st.text(max_size=12))
def test_any_other_text_for_seeds_is_refused_or_a_list_of_numbers(text: str) -> None:
    try:
        seeds = read_seed_list(text)
    except InvalidKnob as error:
        assert "--seeds" in str(error)
    else:
        assert seeds and all(isinstance(seed, int) for seed in seeds)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "0 s"), (59.4, "59 s"), (59.6, "1:00 min"), (200, "3:20 min"), (7500, "2:05 h")],
)
def test_durations_read_as_people_say_them(seconds: float, text: str) -> None:
    assert duration(seconds) == text
