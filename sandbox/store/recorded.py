"""Recorded runs: those that are shipped, read-only, and named `recorded:NAME` wherever a run's id stands."""

from pathlib import Path

from sandbox.foundations.errors import RunUnavailable
from sandbox.store.folder import run_path

RECORDED = "recorded:"


def recorded_root() -> Path:
    """The folder of the recorded runs, beside the package."""
    return Path(__file__).resolve().parents[2] / "assets" / "recorded"


def stored_run_path(run_id: str) -> Path:
    """The folder of a run's id under the runs folder, or of `recorded:NAME`.

    Raises RunUnavailable where that is no id, or no recorded run of that name is shipped.
    """
    if not run_id.startswith(RECORDED):
        return run_path(run_id)
    folder = run_path(run_id.removeprefix(RECORDED), recorded_root())
    if not folder.is_dir():
        names = ", ".join(sorted(path.name for path in recorded_root().glob("*/"))) or "none"
        raise RunUnavailable(f"There is no {run_id[:80]}; the recorded runs are {names}.")
    return folder
