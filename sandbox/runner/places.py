"""Where things lie: a run by its id or its path, and the app's script."""

from pathlib import Path

from sandbox.foundations.errors import RunUnavailable
from sandbox.store.folder import EXPERIMENT, RUN_ID, run_path


def find_run(text: str) -> Path:
    """The folder of an existing run, given the path of its folder or its id; RunUnavailable for neither."""
    folder = Path(text)
    if RUN_ID.fullmatch(text) and not (folder / EXPERIMENT).is_file():
        folder = run_path(text)
    if not (folder / EXPERIMENT).is_file():
        raise RunUnavailable(
            f"There is no run {text[:200]!r}; give the path of a run's folder or an id that `list` prints."
        )
    return folder


def app_script() -> Path:
    """The launcher script of the app, beside the package; RunUnavailable where it is not installed."""
    script = Path(__file__).resolve().parents[2] / "app.py"
    if not script.is_file():
        raise RunUnavailable(
            f"The app's script {script} is missing; serve from a full checkout or image, "
            "because the package alone carries no pages."
        )
    return script
