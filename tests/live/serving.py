"""Serving the test page, and a browser to look at it."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(runs: Path, port: int | None = None) -> Iterator[str]:
    """The address of the served page; `runs` is its runs folder."""
    port = port or free_port()
    command = [
        sys.executable, "-m", "streamlit", "run", "tests/live/served_app.py", f"--server.port={port}",
        "--server.headless=true", "--server.address=127.0.0.1", "--server.fileWatcherType=none",
        "--browser.gatherUsageStats=false", "--runner.postScriptGC=false",
    ]  # fmt: skip
    environment = {**os.environ, "SANDBOX_RUNS": str(runs), "PYTHONPATH": str(ROOT)}
    log = (runs / "served.log").open("w")
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    address = f"http://localhost:{port}"
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=2).read()
                break
            except OSError:
                if process.poll() is not None:
                    raise RuntimeError((runs / "served.log").read_text()) from None
                time.sleep(0.05)
        yield address
    finally:
        process.terminate()
        process.wait(10)
        log.close()
