"""A script in a Python process of its own, for what a process that runs tests has long loaded."""

import subprocess
import sys
from pathlib import Path


def printed_by(script: str, folder: Path) -> str:
    """What the script prints, run in `folder`; it has to end well."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    return done.stdout.strip()
