"""Which build is taken, and that its absence is a sentence, never an error."""

import ctypes
import os
import shutil
import subprocess
import sys
from hashlib import blake2b
from pathlib import Path

import pytest

from sandbox.cli.doctor_command import examine
from sandbox.foundations import kernels as library

AVX2 = {"avx2", "fma", "bmi1", "bmi2", "f16c", "movbe"}
SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "native.sh"
COMPILER = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
echo "a library for $2" >"$2"
"""
DAMAGED = ("", f"the native engine's library is damaged; {library.BUILD_IT}")
AVX512 = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}


def test_a_machine_with_a_compiler_has_the_engine():
    compiler = next(filter(None, map(shutil.which, ("g++", "clang++", "c++"))), None)
    build, why = library.found_build()
    assert build or compiler is None or "AVX2" in why, f"{why}: run `make native`"


def test_the_widest_build_that_a_processor_can_run_comes_first():
    assert library.usable_builds(AVX2 | AVX512, "x86_64") == ("x86-64-v4", "x86-64-v3")
    assert library.usable_builds(AVX2, "AMD64") == ("x86-64-v3",)
    assert library.usable_builds((AVX2 | AVX512) - {"avx512dq"}, "x86_64") == ("x86-64-v3",)
    assert library.usable_builds({"sse4_2", "avx"}, "x86_64") == ()
    assert library.usable_builds(set(), "aarch64") == ("aarch64",)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of builds of the test's own, and a processor that can run the AVX2 one."""
    monkeypatch.setattr(library, "BUILT", tmp_path)
    monkeypatch.setattr(library, "processor_flags", lambda: AVX2)
    monkeypatch.setattr(library.platform, "machine", lambda: "x86_64")
    library.found_build.cache_clear()
    yield tmp_path
    library.found_build.cache_clear()


def test_without_a_build_there_is_a_sentence_with_what_to_do(elsewhere: Path):
    assert library.found_build() == ("", f"the native engine is not built; {library.BUILD_IT}")


def test_a_build_of_other_sources_is_not_loaded(elsewhere: Path):
    (elsewhere / "kernels-x86-64-v3.so").write_bytes(b"")
    (elsewhere / "sources").write_text("0123456789abcdef\n")
    build, why = library.found_build()
    assert build == "" and "other sources" in why and "make native" in why


def put(folder: Path, content: bytes) -> Path:
    """A library with what the build script writes beside it."""
    path = folder / "kernels-x86-64-v3.so"
    path.write_bytes(content)
    hashed = blake2b(content, digest_size=16).hexdigest()
    (folder / "sources").write_text(f"{library.sources_key()}\n{path.name} {len(content)} {hashed}\n")
    return path


def test_a_whole_build_of_these_sources_is_taken(elsewhere: Path, monkeypatch: pytest.MonkeyPatch):
    loaded = []
    monkeypatch.setattr(ctypes, "CDLL", loaded.append)
    path = put(elsewhere, b"a library")
    assert library.found_build() == ("x86-64-v3", "")
    assert loaded == [str(path)]


@pytest.mark.parametrize(
    "damage", [lambda whole: b"", lambda whole: whole[:5000], lambda whole: whole[:-1] + b"!"]
)
def test_a_damaged_library_is_told_and_never_loaded(elsewhere: Path, monkeypatch: pytest.MonkeyPatch, damage):
    monkeypatch.setattr(ctypes, "CDLL", lambda path: pytest.fail(f"{path} was loaded"))
    path = put(elsewhere, bytes(range(256)) * 100)
    path.write_bytes(damage(path.read_bytes()))
    assert library.found_build() == DAMAGED


def test_a_library_that_the_system_cannot_load_is_told(elsewhere: Path):
    put(elsewhere, b"no library at all")
    assert library.found_build() == DAMAGED


def test_a_library_without_its_size_and_hash_is_told(elsewhere: Path):
    put(elsewhere, b"a library")
    (elsewhere / "sources").write_text(f"{library.sources_key()}\n")
    assert library.found_build() == DAMAGED


@pytest.mark.parametrize("text", [b"", b"\xff\xfe\x00", "Käse".encode()])
def test_a_key_that_cannot_be_read_is_no_key(elsewhere: Path, text: bytes):
    put(elsewhere, b"a library")
    (elsewhere / "sources").write_bytes(text)
    assert library.found_build() == (
        "",
        f"the native engine was built from other sources; {library.BUILD_IT}",
    )


def test_doctor_says_that_the_library_is_damaged(elsewhere: Path):
    put(elsewhere, b"a library").write_bytes(b"a lib")
    assert examine()["engines"]["native"] == f"none: {DAMAGED[1]}"


def test_building_again_mends_a_damaged_library_and_touches_no_sound_one(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
):
    for name, text in {"scripts/native.sh": SCRIPT.read_text(), "native/a.cpp": "", "c++": COMPILER}.items():
        (elsewhere / name).parent.mkdir(exist_ok=True)
        (elsewhere / name).write_text(text)
    (elsewhere / "c++").chmod(0o755)
    environment = {**os.environ, "CXX": str(elsewhere / "c++"), "PYTHON": sys.executable}

    def build() -> Path:
        script = ["bash", str(elsewhere / "scripts" / "native.sh"), "required"]
        subprocess.run(script, env=environment, check=True, capture_output=True, timeout=120)
        return sorted((elsewhere / "native" / "build").glob("kernels-*.so"))[0]

    def is_whole() -> bool:
        return library.is_whole(path.stem.removeprefix("kernels-"))

    monkeypatch.setattr(library, "BUILT", elsewhere / "native" / "build")
    monkeypatch.setattr(ctypes, "CDLL", str)
    path = build()
    made = path.stat().st_mtime_ns
    assert is_whole()
    build()
    assert path.stat().st_mtime_ns == made
    path.write_bytes(b"")
    assert not is_whole()
    build()
    assert is_whole()


def test_an_old_processor_is_told_what_is_missing(elsewhere: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(library, "processor_flags", lambda: {"sse2"})
    build, why = library.found_build()
    assert build == "" and "AVX2" in why
