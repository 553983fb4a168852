"""What can be chosen, as plain data in the runs folder: made by a process with torch, read by the pages."""

import hashlib
import json
import os
import time
from functools import cache
from pathlib import Path
from typing import Any

from sandbox.foundations.errors import RunUnavailable
from sandbox.store.folder import runs_root

DESCRIBED = (
    "foundations", "mathematics", "tasks", "attention", "conditioning", "initialization",
    "models", "diagnostics", "engine", "experiment",
)  # fmt: skip
"""Packages whose sources decide what the catalogue says."""


@cache
def sources_hash() -> str:
    """A hash over the sources that the catalogue is made from; the same for the life of a process."""
    package = Path(__file__).resolve().parents[1]
    digest = hashlib.blake2b(digest_size=12)
    for name in DESCRIBED:
        for path in sorted((package / name).rglob("*")):
            if path.suffix in {".py", ".toml"}:
                digest.update(str(path.relative_to(package)).encode() + b"\0")
                digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()


def catalogue_path(runs: Path | None = None) -> Path:
    """The file of the catalogue that these sources make."""
    return (runs or runs_root()) / f"catalogue-{sources_hash()}.json"


def write_catalogue(runs: Path, text: str) -> None:
    """Put the catalogue (JSON) in its place, whole or not at all; older ones go."""
    path = catalogue_path(runs)
    draft = path.with_suffix(f".{os.getpid()}.draft")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
    for old in runs.glob("catalogue-*.json"):
        if old != path:
            old.unlink(missing_ok=True)


def catalogue(timeout: float = 20.0) -> dict[str, Any]:
    """The catalogue as plain data, waiting for the supervisor to write it where need be."""
    path = catalogue_path()
    deadline = time.monotonic() + timeout
    while True:
        try:
            return dict(json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            if time.monotonic() > deadline:
                raise RunUnavailable(
                    f"The trainer has not described itself within {timeout:g} s; restart the app, "
                    "or run `python -m sandbox doctor`."
                ) from None
            time.sleep(0.02)
