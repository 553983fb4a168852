"""Where things lie: a run by its id or its path, whether somebody writes it, and the app's script."""

import fcntl
import os
from pathlib import Path

from sandbox.foundations.errors import RunUnavailable
from sandbox.store import Run
from sandbox.store.folder import EXPERIMENT, LOCK, RUN_ID, run_path


def find_run(text: str) -> Path:
    """The folder of an existing run, given the path of its folder or its id; RunUnavailable for neither."""
    folder = Path(text)
    if RUN_ID.fullmatch(text) and not _holds_run(folder):
        folder = run_path(text)
    if not _holds_run(folder):
        raise RunUnavailable(
            f"There is no run {text[:200]!r}; give the path of a run's folder or an id that `list` prints."
        )
    return folder


def _holds_run(folder: Path) -> bool:
    try:
        return (folder / EXPERIMENT).is_file()
    except OSError:  # a name too long to be one, or a folder that may not be entered
        return False


def app_script() -> Path:
    """The launcher script of the app, beside the package; RunUnavailable where it is not installed."""
    script = Path(__file__).resolve().parents[2] / "app.py"
    if not script.is_file():
        raise RunUnavailable(
            f"The app's script {script} is missing; serve from a full checkout or image, "
            "because the package alone carries no pages."
        )
    return script


def present_state(run: Run) -> str:
    """The state a run is in now: one that says it is running but that nobody writes is `interrupted`."""
    state = str(run.status["state"])
    if state in ("running", "paused", "stalled") and not being_written(run.path):
        return "interrupted"
    return state


def being_written(folder: Path) -> bool:
    """Whether a living process holds the run's lock."""
    try:
        descriptor = os.open(folder / LOCK, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
