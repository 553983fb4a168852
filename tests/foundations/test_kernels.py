"""Which build is taken, and that its absence is a sentence, never an error."""

import shutil
from pathlib import Path

import pytest

from sandbox.foundations import kernels as library

AVX2 = {"avx2", "fma", "bmi1", "bmi2", "f16c", "movbe"}
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


def test_a_build_of_these_sources_is_taken(elsewhere: Path):
    (elsewhere / "kernels-x86-64-v3.so").write_bytes(b"")
    (elsewhere / "sources").write_text(f"{library.sources_key()}\n")
    assert library.found_build() == ("x86-64-v3", "")


def test_an_old_processor_is_told_what_is_missing(elsewhere: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(library, "processor_flags", lambda: {"sse2"})
    build, why = library.found_build()
    assert build == "" and "AVX2" in why
