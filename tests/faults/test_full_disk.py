"""A small file system that fills up pauses the run on it, and emptied lets it go on to the same bits."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.conftest import Note
from tests.runner.test_supervisor import ROOT

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]


@pytest.mark.parametrize("reserve", ["2", "0"], ids=["before it is full", "once it is full"])
def test_a_full_disk_pauses_and_goes_on(tmp_path: Path, note: Note, reserve: str) -> None:
    place = tmp_path / "small"
    place.mkdir()
    trained = f"{sys.executable} -m tests.faults.full_disk {place} {tmp_path}"
    command = f"mount -t tmpfs -o size=12m none {place} && exec {trained}"
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", command],
        cwd=ROOT,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "SANDBOX_RESERVE_MB": reserve, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-9000:]
    found = json.loads(done.stdout)
    assert found["state"] == "done" and found["times_told"] >= 4
    note(**found)
