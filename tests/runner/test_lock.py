"""The supervisor's lock where the runs folder cannot be written."""

from pathlib import Path

import pytest

from sandbox.foundations.errors import RunUnavailable
from sandbox.runner.lock import SupervisorLock


def test_a_runs_folder_that_takes_no_lock_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "supervisor.lock").mkdir()
    with pytest.raises(RunUnavailable, match="cannot be written"):
        SupervisorLock(tmp_path)


def test_a_file_in_the_place_of_the_runs_folder_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("")
    with pytest.raises(RunUnavailable, match="cannot be written"):
        SupervisorLock(tmp_path / "runs")
