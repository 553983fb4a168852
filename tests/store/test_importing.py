"""A ZIP becomes a run of its own, or one sentence and nothing else; no path in it means anything."""

import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.cli import main
from sandbox.foundations.errors import InvalidData
from sandbox.store import RunWriter, importing, open_run, run_folders
from sandbox.store.export import export
from sandbox.store.importing import import_run

Files = dict[str, bytes]
CapSys = pytest.CaptureFixture[str]


@pytest.fixture
def archive(writer: RunWriter, tmp_path: Path) -> Path:
    writer.scalars(0, "loss", range(50), np.arange(150.0).reshape(50, 3))
    writer.checkpoint(50, {"theta": np.ones(3)})
    writer.status("done", 50, 1.0)
    writer.close()
    return export(open_run(writer.path), "zip", tmp_path / "run.zip")


def packed(files: Files, path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return path


def unpacked(archive: Path) -> Files:
    with zipfile.ZipFile(archive) as found:
        return {name: found.read(name) for name in found.namelist()}


def everything(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*")}


def test_an_exported_run_comes_back_in_another_runs_folder(archive: Path, tmp_path: Path) -> None:
    folder = import_run(archive, "run.zip", tmp_path / "other")
    assert folder == tmp_path / "other" / "brisk-otter-7"
    with open_run(folder) as run:
        assert run.curve("loss", "standard", 0)[1][-1] == 148.0
    assert everything(tmp_path / "other") == {
        "brisk-otter-7", *(f"brisk-otter-7/{Path(name).name}" for name in unpacked(archive)),
    }  # fmt: skip


def test_a_run_that_is_there_is_never_replaced(archive: Path, writer: RunWriter, runs_folder: Path) -> None:
    before = {f.name: f.read_bytes() for f in writer.path.iterdir()}
    first, second = import_run(archive, "run.zip"), import_run(archive, "run.zip")
    assert len({first, second, writer.path}) == 3
    assert first.name.startswith("brisk-otter-7-")
    assert {f.name: f.read_bytes() for f in writer.path.iterdir()} == before
    assert {folder.name for folder in run_folders()} == {first.name, second.name, "brisk-otter-7"}


def test_an_upload_is_read_like_a_file(archive: Path, tmp_path: Path) -> None:
    folder = import_run(io.BytesIO(archive.read_bytes()), "upload.zip", tmp_path / "other")
    assert folder.name == "brisk-otter-7"


@pytest.mark.parametrize(
    "evil", ["../../evil", "/tmp/evil", "brisk-otter-7/../evil", "brisk-otter-7/deep/run.sqlite", "C:\\evil"]
)
def test_a_path_that_leads_elsewhere_leads_nowhere(archive: Path, tmp_path: Path, evil: str) -> None:
    packed(unpacked(archive) | {evil: b"evil"}, archive)
    folder = import_run(archive, "run.zip", tmp_path / "a" / "b" / "root")
    assert everything(tmp_path / "a") == {
        "b", "b/root", "b/root/brisk-otter-7", *(f"b/root/brisk-otter-7/{f.name}" for f in folder.iterdir()),
    }  # fmt: skip
    assert len(list(folder.iterdir())) == 3


@pytest.mark.parametrize("home", ["../..", "..", "/", "a/b/../../..", "x" * 200, "naïve run!", "", "studies"])
def test_the_id_is_always_a_safe_one(archive: Path, tmp_path: Path, home: str) -> None:
    files = {
        f"{home}/{Path(name).name}" if home else Path(name).name: c for name, c in unpacked(archive).items()
    }
    root = tmp_path / "a" / "root"
    folder = import_run(packed(files, archive), "upload.zip", root)
    assert folder.parent == root and folder.name not in ("", ".", "..", "studies")
    assert everything(tmp_path / "a") == {"root"} | {f"root/{rest}" for rest in everything(root)}
    open_run(folder).close()


def test_a_link_in_the_archive_is_never_followed(archive: Path, tmp_path: Path) -> None:
    files = unpacked(archive)
    with zipfile.ZipFile(archive, "w") as made:
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            if name.endswith("run.sqlite"):
                info.external_attr = 0o120777 << 16
                content = b"/etc/passwd"
            made.writestr(info, content)
    with pytest.raises(InvalidData, match="is damaged: run.sqlite"):
        import_run(archive, "run.zip", tmp_path / "other")
    assert everything(tmp_path / "other") == set()


def without(end: str) -> Callable[[Files], Files]:
    return lambda files: {name: content for name, content in files.items() if not name.endswith(end)}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (without("experiment.json"), "holds no run"),
        (without("run.sqlite"), "damaged: run.sqlite: run.sqlite is missing"),
        (lambda files: {}, "holds no run"),
        (lambda files: files | {"b/experiment.json": b"{}"}, "holds 2 runs"),
        (lambda files: {n: c[:100] if n.endswith("s") else c for n, c in files.items()}, "safetensors"),
        (
            lambda files: {n: c[:5000] if n.endswith("e") else c for n, c in files.items()},
            "damaged: run.sqlite",
        ),
    ],
)
def test_what_is_no_run_is_one_sentence_and_leaves_nothing(
    archive: Path, tmp_path: Path, change: Callable[[Files], Files], says: str
) -> None:
    packed(change(unpacked(archive)), archive)
    with pytest.raises(InvalidData, match=says) as refused:
        import_run(archive, "run.zip", tmp_path / "other")
    assert str(refused.value).count("\n") == 0
    assert everything(tmp_path / "other") <= set()


def test_a_bomb_is_refused_before_it_is_unpacked(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "_unpack", lambda *_: pytest.fail("something was unpacked"))
    packed(unpacked(archive) | {"brisk-otter-7/run.sqlite": bytes(30_000_000)}, archive)
    assert archive.stat().st_size < 200_000
    with pytest.raises(InvalidData, match="unpacks to 30 MB and may have 20"):
        import_run(archive, "run.zip", tmp_path / "other", most_bytes=20_000_000)
    assert not list((tmp_path / "other").iterdir())


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_an_archive_packed_in_another_way_is_refused(archive: Path, tmp_path: Path, method: int) -> None:
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w", method) as made:
        for name, content in unpacked(archive).items():
            made.writestr(name, content)
    with pytest.raises(InvalidData, match="packed as no export is"):
        import_run(other, "other.zip", tmp_path / "other")
    assert everything(tmp_path / "other") == set()


def test_an_encrypted_archive_is_refused(archive: Path, tmp_path: Path) -> None:
    content = bytearray(archive.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.find(signature)
        while at >= 0:
            content[at + flags] |= 1
            at = content.find(signature, at + 1)
    with pytest.raises(InvalidData, match="is encrypted"):
        import_run(io.BytesIO(bytes(content)), "locked.zip", tmp_path / "other")


def test_a_file_that_stands_there_twice_is_refused(archive: Path, tmp_path: Path) -> None:
    with (
        pytest.warns(UserWarning, match="Duplicate name"),
        zipfile.ZipFile(archive, "a") as made,
    ):
        made.writestr("brisk-otter-7/run.sqlite", b"another")
    with pytest.raises(InvalidData, match="a file twice"):
        import_run(archive, "run.zip", tmp_path / "other")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The archive of a run with one number."""
    root = tmp_path_factory.mktemp("small")
    with RunWriter.create(root / "run", {"steps": 1, "seeds": [0], "arms": [{"name": "a"}]}) as writer:
        writer.scalars(0, "loss", [0], np.ones((1, 1)))
    return export(open_run(root / "run"), "zip", root / "run.zip").read_bytes()


SHARE = st.floats(0, 1, exclude_max=True)


@settings(max_examples=60)
@given(changes=st.lists(st.tuples(SHARE, st.integers(0, 255)), max_size=8), kept=st.floats(0.5, 1))
def test_any_damage_to_the_archive_is_one_sentence_or_the_same_run(
    small: bytes, tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[float, int]], kept: float
) -> None:
    root, content = tmp_path_factory.mktemp("any"), bytearray(small)
    for share, byte in changes:
        content[int(share * len(content))] = byte
    content = content[: int(kept * len(content))]
    try:
        folder = import_run(io.BytesIO(bytes(content)), "run.zip", root / "other")
    except InvalidData as refused:
        assert len(str(refused)) < 600
        assert not (root / "other").exists() or everything(root / "other") == set()
    else:
        assert open_run(folder).curve("loss", "a", 0)[1].tolist() == [1.0]


def test_the_command_prints_where_the_run_is(archive: Path, tmp_path: Path, capsys: CapSys) -> None:
    os.environ["SANDBOX_RUNS"] = str(tmp_path / "other")
    assert main(["import", str(archive)]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'other' / 'brisk-otter-7'}\n"
    assert main(["import", str(tmp_path / "none.zip")]) == 2
    assert "There is no file" in capsys.readouterr().err


@pytest.mark.parametrize("place", [2**40, 2**63 - 1, 2**63, 2**64 - 1])
@pytest.mark.parametrize("upload", [True, False])
def test_a_file_that_begins_where_nothing_can_be_sought_is_refused(
    archive: Path, tmp_path: Path, place: int, upload: bool
) -> None:
    content = bytearray(archive.read_bytes())
    entry, end = content.find(b"PK\x01\x02"), content.rfind(b"PK\x05\x06")
    length = int.from_bytes(content[entry + 28 : entry + 30], "little")
    size = int.from_bytes(content[end + 12 : end + 16], "little")
    more = b"\x01\0\x08\0" + place.to_bytes(8, "little")  # ZIP64: the place stands in an extra field
    content[end + 12 : end + 16] = (size + len(more)).to_bytes(4, "little")
    content[entry + 30 : entry + 32] = len(more).to_bytes(2, "little")
    content[entry + 42 : entry + 46] = b"\xff" * 4
    content[entry + 46 + length : entry + 46 + length] = more
    archive.write_bytes(content)
    source = io.BytesIO(content) if upload else archive
    with pytest.raises(InvalidData, match="a file begins outside of it"):
        import_run(source, "run.zip", tmp_path / "other")
    assert everything(tmp_path / "other") == set()
