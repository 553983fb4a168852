"""Ids from links never leave the runs folder, and files appear whole."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.foundations.errors import RunUnavailable
from sandbox.store.folder import (
    BESIDE,
    make_folder,
    plain_text,
    read_experiment,
    run_folders,
    run_path,
    runs_root,
    write_whole,
)


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
        "studies",
        "ballast",
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
    (runs_folder / "studies").mkdir()
    (runs_folder / "studies" / "experiment.json").write_text("{}")
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


def test_a_link_in_the_runs_folder_is_neither_followed_nor_listed(runs_folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "experiment.json").write_text("{}")
    runs_folder.mkdir(exist_ok=True)
    (runs_folder / "linked").symlink_to(outside)
    with pytest.raises(RunUnavailable, match="link to another place"):
        run_path("linked")
    assert run_folders() == []


@pytest.mark.parametrize(
    "text",
    [
        '{"steps": 1, "seeds": [0], "arms": [{"name": "a"}], "x": NaN}',
        '{"steps": 1, "seeds": [0], "arms": [{"name": "a"}], "x": 1e999}',
        '{"steps": 1, "seeds": [0], "arms": [{"name": "\\ud800"}]}',
        '{"steps": 1, "seeds": [0], "arms": [{"name": "a"}], "x": ' + "[" * 600 + "]" * 600 + "}",
        "[" * 100_000,
        '{"seeds": [0], "arms": [{"name": "a"}]}',
        '{"steps": 1, "seeds": [], "arms": [{"name": "a"}]}',
        '{"steps": 1, "seeds": [0], "arms": []}',
        "\0",
    ],
)
def test_what_no_run_wrote_is_refused_in_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "experiment.json").write_text(text)
    with pytest.raises(RunUnavailable, match=r"experiment\.json") as caught:
        read_experiment(tmp_path)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("name", BESIDE)
def test_no_run_is_put_where_something_else_of_the_runs_folder_stands(runs_folder: Path, name: str) -> None:
    with pytest.raises(RunUnavailable, match="holds no run but stands beside them"):
        make_folder(runs_folder / name)
    assert not runs_folder.exists()
    make_folder(runs_folder.parent / name)
