"""The app as `python -m sandbox serve` starts it, and what a test needs to know of its processes."""

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from sandbox.runner import queue
from sandbox.ui import links
from tests.live.serving import ROOT, free_port

Plain = dict[str, Any]

SMALL: Plain = {
    "task": {
        "kind": "sparse modular addition", "length": 6, "n_terms": 3,
        "n_train": 256, "n_test": 256, "split": "overlapping",
    },
    "model": {"kind": "encoder", "d_model": 8, "n_heads": 2, "n_layers": 1},
    "batch_size": 32,
    "evaluate_every": 20,
    "seeds": [0],
    "arms": ["standard", "spectral:shift=0.5"],
}  # fmt: skip
"""An experiment whose steps cost a few milliseconds at most, so that what is timed is the app."""

LONG = SMALL | {"batch_size": 256, "steps": 500_000}
"""Minutes of training, compiled too: no test sees its end."""

SHORT = SMALL | {"steps": 160, "seeds": [0, 1]}


def eventually(truth: Callable[[], Any], seconds: float = 60.0, what: str = "it") -> Any:
    """What `truth` answers as soon as it is true."""
    deadline = time.monotonic() + seconds
    while not (found := truth()):
        assert time.monotonic() < deadline, f"{what} never came true"
        time.sleep(0.02)
    return found


class App:
    """The served app with its runs folder, which is this process's too while a test runs."""

    def __init__(self, runs: Path) -> None:
        self.runs = runs
        self.port = free_port()
        self.address = f"http://localhost:{self.port}"
        self._log = (runs / "served.log").open("w")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "sandbox", "serve", "--port", str(self.port)],
            cwd=ROOT,
            env={**os.environ, "SANDBOX_RUNS": str(runs)},
            stdout=self._log,
            stderr=self._log,
        )

    def wait(self) -> None:
        """Return once the server answers and has said what there is to choose from."""
        eventually(lambda: self.healthy() and any(self.runs.glob("catalogue-*.json")), 120, "the server")

    def healthy(self) -> bool:
        """Whether the UI server answers."""
        assert self._process.poll() is None, (self.runs / "served.log").read_text()
        try:
            with urllib.request.urlopen(f"{self.address}/_stcore/health", timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def ui(self) -> psutil.Process:
        """The process that serves pages."""
        children = psutil.Process(self._process.pid).children()
        return next(child for child in children if "streamlit" in child.cmdline())

    def setup(self, plain: Plain) -> str:
        """The address of the Sandbox with the settings `plain`."""
        return f"{self.address}/sandbox?{links.PARAMETER}={links.encode(plain)}"

    def run(self, run_id: str) -> str:
        """The address of the Sandbox with a run."""
        return f"{self.address}/sandbox?run={run_id}"

    def queued(self, run_id: str) -> queue.QueuedRun:
        """What the queue says of a run."""
        found = queue.state(run_id)
        assert found is not None
        return found

    def trained_to(self, run_id: str, step: int, seconds: float = 60.0) -> None:
        """Wait until the run has reached `step`."""
        eventually(lambda: self.queued(run_id).step >= step, seconds, f"step {step} of {run_id}")

    def ended(self, run_id: str, seconds: float = 90.0) -> queue.QueuedRun:
        """Wait until the run is over; what the queue says then."""
        over = ("done", "failed", "stopped")
        eventually(lambda: self.queued(run_id).state in over, seconds, f"the end of {run_id}")
        return self.queued(run_id)

    def close(self) -> None:
        """End the whole process tree."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(30)
        self._log.close()
