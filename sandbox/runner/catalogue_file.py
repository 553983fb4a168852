"""What can be chosen, as plain data in the runs folder: made by a process with torch, read by the pages."""

import hashlib
import json
import os
import time
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sandbox.foundations.errors import RunUnavailable
from sandbox.runner.control import supervisor_runs
from sandbox.store.folder import runs_root

DESCRIBED = (
    "foundations", "mathematics", "tasks", "attention", "conditioning", "initialization",
    "models", "diagnostics", "engine", "experiment",
)  # fmt: skip
"""Packages whose sources decide what the catalogue says."""


GPU = Path("/dev/nvidiactl")
"""Stands where a driver is loaded; asking torch would load it here."""


@cache
def sources_hash() -> str:
    """A hash over what the catalogue is made from: sources, torch build, GPU; kept for the process's life."""
    package = Path(__file__).resolve().parents[1]
    digest = hashlib.blake2b(digest_size=12)
    digest.update(f"{version('torch')} {GPU.exists()}".encode())
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
    """Put the catalogue (JSON) in its place, whole or not at all."""
    path = catalogue_path(runs)
    draft = path.with_suffix(f".{os.getpid()}.draft")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def drop_other_catalogues(runs: Path) -> None:
    """Remove what other sources made; a starting supervisor does so, and what is left is its own."""
    for file in runs.glob("catalogue-*.json"):
        if file != catalogue_path(runs):
            file.unlink(missing_ok=True)


def catalogue(timeout: float = 20.0) -> dict[str, Any]:
    """The catalogue as plain data, waiting for the supervisor to write it where need be.

    That of this process's own sources; while a supervisor of other sources runs, that one's, since
    it is the one that trains.
    """
    deadline = time.monotonic() + timeout
    while True:
        others = list(runs_root().glob("catalogue-*.json")) if supervisor_runs() else []
        for path in [catalogue_path(), *others]:
            try:
                return dict(json.loads(path.read_text(encoding="utf-8")))
            except FileNotFoundError:
                continue
        if time.monotonic() > deadline:
            raise RunUnavailable(
                f"The trainer has not described itself within {timeout:g} s; restart the app, "
                "or run `python -m sandbox doctor`."
            )
        time.sleep(0.02)
