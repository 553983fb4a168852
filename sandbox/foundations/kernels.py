"""The compiled kernels of native/: which build suits this machine, and a sentence where there is none."""

import ctypes
import platform
import sys
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).resolve().parents[2] / "native"
BUILT = SOURCES / "build"

WIDEST_FIRST = {
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "x86-64-v3": {"avx2", "fma", "bmi1", "bmi2", "f16c", "movbe"},
}
"""Builds for x86-64 and the processor flags (as Linux names them) that each needs."""

BUILD_IT = "where a C++ compiler is installed, make native builds it for the next start of the app"


def usable_builds(flags: set[str], machine: str) -> tuple[str, ...]:
    """Names of the builds that a processor can run, the fastest first."""
    if machine.lower() in ("x86_64", "amd64"):
        return tuple(name for name, needed in WIDEST_FIRST.items() if needed <= flags)
    return (machine.lower(),)


def processor_flags() -> set[str]:
    """What the processor says it can do; empty where Linux is not there to ask."""
    path = Path("/proc/cpuinfo")
    if sys.platform != "linux" or not path.is_file():
        return set()
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((set(line.split(":", 1)[1].split()) for line in lines if line.startswith("flags")), set())


def sources_key() -> str | None:
    """A hash of the sources that stand beside the package; None where it was installed without them."""
    files = sorted([*SOURCES.glob("*.cpp"), *SOURCES.glob("*.h")])
    if not files:
        return None
    text = b"".join(path.name.encode() + b"\n" + path.read_bytes() for path in files)
    return blake2b(text, digest_size=8).hexdigest()


@cache
def found_build() -> tuple[str, str]:
    """The build that is used and, where it is empty, why there is none."""
    builds = usable_builds(processor_flags(), platform.machine())
    if not builds:
        return "", "the native engine needs a processor with AVX2 and Linux to tell so"
    present = [name for name in builds if path_of(name).is_file()]
    if not present:
        return "", f"the native engine is not built; {BUILD_IT}"
    key = sources_key()
    if key is not None and built_key(present[0]) != key:
        return "", f"the native engine was built from other sources; {BUILD_IT}"
    if not is_whole(present[0]):
        return "", f"the native engine's library is damaged; {BUILD_IT}"
    return present[0], ""


def path_of(build: str) -> Path:
    """Where the shared library of a build lies."""
    return BUILT / f"kernels-{build}.so"


def built_key(build: str) -> str:
    """The hash of the sources that a build was made from; empty where it cannot be read."""
    return _recorded()[0] if path_of(build).is_file() else ""


def is_whole(build: str) -> bool:
    """Whether a build's library has the size and the hash that were written beside it, and can be loaded.

    A library that was cut short would end the process at its first call, so it is not loaded to find out.
    """
    path = path_of(build)
    try:
        library = path.read_bytes()
        found = f"{path.name} {len(library)} {blake2b(library, digest_size=16).hexdigest()}"
        if found not in _recorded()[1:]:
            return False
        ctypes.CDLL(str(path))
    except OSError:
        return False
    return True


def _recorded() -> list[str]:
    """What scripts/native.sh wrote: the key of the sources, then name, size and hash of each library."""
    try:
        return (BUILT / "sources").read_text(encoding="ascii", errors="replace").splitlines() or [""]
    except OSError:
        return [""]


@cache
def kernels(build: str = "") -> ctypes.CDLL:
    """The loaded library of a build, by default the one of `found_build`; its calls release the GIL."""
    library = ctypes.CDLL(str(path_of(build or found_build()[0])))
    for name, answer in ANSWERS.items():
        getattr(library, name).restype = answer
    return library


ANSWERS: dict[str, Any] = {
    **{
        f"sandbox_{model}_{what}": ctypes.c_void_p
        for model in ("visual", "encoder")
        for what in ("advance", "evaluate", "gradient")
    },
    "sandbox_go_on": ctypes.c_int32,
    "sandbox_end": None,
    "sandbox_theta_bracket": ctypes.c_int64,
    "sandbox_theta_certificates": ctypes.c_int64,
    "sandbox_theta_smallest_difference": ctypes.c_int64,
}
"""What each exported function returns: a job to be worked on, whether it is done, nothing, or a number."""
