"""Ids from links never leave the runs folder, and files appear whole."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.foundations.errors import RunUnavailable
from sandbox.store.folder import plain_text, run_folders, run_path, runs_root, write_whole


@pytest.mark.parametrize(
    "typed",
    [
        "",
        ".",
        "..",
        "../secret",
        "a/b",
        "a\\b",
        "/etc/passwd",
        "-rf",
        "a b",
        "a\n",
        "a\0",
        "é",
        "a" * 65,
        "a.b",
        "~",
    ],
)
def test_what_is_no_id_reaches_no_path(typed: str) -> None:
    with pytest.raises(RunUnavailable, match="is not a run's id"):
        run_path(typed)


@given(typed=st.text())
def test_every_accepted_id_is_a_direct_child_of_the_runs_folder(typed: str) -> None:
    try:
        path = run_path(typed, Path("/runs"))
    except RunUnavailable:
        return
    assert path == Path("/runs") / typed
    assert Path(os.path.normpath(path)).parent == Path("/runs")


def test_the_environment_names_the_runs_folder(
    runs_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert runs_root() == runs_folder
    assert run_path("brisk-otter-7") == runs_folder / "brisk-otter-7"
    monkeypatch.delenv("SANDBOX_RUNS")
    monkeypatch.chdir(tmp_path)
    assert runs_root() == tmp_path / "runs"


def test_runs_are_listed_youngest_first_and_other_folders_are_not(runs_folder: Path) -> None:
    assert run_folders() == []
    for age, name in enumerate(("young", "middle", "old")):
        (runs_folder / name).mkdir(parents=True)
        file = runs_folder / name / "experiment.json"
        file.write_text("{}")
        os.utime(file, (10_000 - age, 10_000 - age))
    (runs_folder / "empty").mkdir()
    assert [folder.name for folder in run_folders()] == ["young", "middle", "old"]


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_whole(tmp_path / "a", b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunUnavailable, match="the disk is full"):
        write_whole(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"old"
    assert [f.name for f in tmp_path.iterdir()] == ["a"]


def test_equal_experiments_are_equal_texts() -> None:
    assert (
        plain_text({"a": 1, "b": [1.5]}) == plain_text({"b": [1.5], "a": 1}) != plain_text({"a": 1, "b": [1]})
    )
