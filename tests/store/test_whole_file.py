"""An export replaces files, follows links, and refuses what is neither; the umask says who may read it."""

import os
import socket
import stat
from pathlib import Path

import pytest

from sandbox.figures.animation import write_film
from sandbox.foundations.errors import InvalidData, RunUnavailable
from sandbox.live.replay.page import write_replay
from sandbox.store import Run, RunWriter, open_run
from sandbox.store.export import export
from sandbox.store.whole_file import destination, put_whole
from tests.store.test_weights_file import record

TEXTS = ("zip", "safetensors", "toml", "python", "csv", "parquet")


@pytest.fixture
def run(writer: RunWriter) -> Run:
    record(writer, 10)
    return open_run(writer.path)


def named(to: str) -> str:
    return f"out.{to}"


@pytest.mark.parametrize("to", [*TEXTS, "html", "gif"])
@pytest.mark.parametrize(("kind", "words"), [("pipe", "a pipe"), ("link", "a pipe"), ("folder", "a folder")])
def test_what_is_no_file_is_refused_and_stays(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to: str, kind: str, words: str
) -> None:
    path = tmp_path / named(to)
    if kind == "folder":
        path.mkdir()
    else:
        there = path if kind == "pipe" else tmp_path / "pipe"
        os.mkfifo(there)
        if kind == "link":
            path.symlink_to(there)
    before = path.lstat()
    writers = {"html": write_replay, "gif": write_film}
    with pytest.raises(InvalidData, match=f"is {words}, which no export replaces; give"):
        if to in writers:
            writers[to](run, path)
        else:
            export(run, to, path)
    assert (path.lstat().st_ino, path.lstat().st_mode) == (before.st_ino, before.st_mode)
    assert not list(tmp_path.glob("*.part"))


def test_devices_and_sockets_are_refused_too(tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match="/dev/null is a device"):
        destination(Path("/dev/null"))
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "s"))
        with pytest.raises(InvalidData, match="is a socket"):
            destination(tmp_path / "s")
    (tmp_path / "round").symlink_to(tmp_path / "round")
    with pytest.raises(RunUnavailable, match="round cannot be used"):
        destination(tmp_path / "round")


@pytest.mark.parametrize("to", TEXTS)
def test_a_link_stays_and_the_file_it_leads_to_is_replaced(run: Run, tmp_path: Path, to: str) -> None:
    (tmp_path / "kept").mkdir()
    target, link = tmp_path / "kept" / "target", tmp_path / named(to)
    target.write_bytes(b"old")
    link.symlink_to(target)
    assert export(run, to, link) == link
    assert link.is_symlink() and target.read_bytes() not in (b"old", b"")
    assert [file.name for file in (tmp_path / "kept").iterdir()] == ["target"]


@pytest.mark.parametrize("to", TEXTS)
def test_the_umask_says_who_may_read_it(run: Run, tmp_path: Path, to: str) -> None:
    before = os.umask(0o027)
    try:
        path = export(run, to, tmp_path / named(to))
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_in_the_place_of_the_draft_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("mine")
    (tmp_path / "a.part").symlink_to(tmp_path / "other")
    put_whole(tmp_path / "a", lambda part: part.write_bytes(b"new") and None)
    assert ((tmp_path / "a").read_text(), (tmp_path / "other").read_text()) == ("new", "mine")
