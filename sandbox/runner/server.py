"""The server: app and supervisor as children of one process, which restarts what dies and ends both."""

import ctypes
import ipaddress
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryFile

from sandbox.foundations.errors import InvalidKnob, RunUnavailable
from sandbox.runner.control import start_supervisor, supervisor_runs
from sandbox.runner.places import app_script
from sandbox.store.folder import runs_root

LOOPBACK = "127.0.0.1"
POLL = 0.2
TOO_SOON = 5.0
"""Seconds; a process that ends earlier than this, twice in a row, is not started a third time."""

PATIENCE = 8.0
"""Seconds that a child has to end after it was asked to."""

FLAGS = {
    "server.headless": "true",
    "server.fileWatcherType": "none",
    "server.runOnSave": "false",
    "server.disconnectedSessionTTL": "45",
    "server.websocketPingInterval": "20",
    "browser.gatherUsageStats": "false",
    "client.toolbarMode": "viewer",
    "client.showErrorDetails": "type",
    "client.showSidebarNavigation": "false",
    "runner.magicEnabled": "false",
    "runner.postScriptGC": "false",  # a full collection after every fragment costs 50 to 250 ms
}
"""Streamlit's options, given here too so that they hold from whatever folder the server is started."""


def serve(port: int, host: str | None, allowed_hosts: Sequence[str]) -> int:
    """Serve until SIGINT or SIGTERM; 0 then, 1 where the app cannot be kept running.

    Raises InvalidKnob for a port or host that cannot be listened on, RunUnavailable without app.py
    or where the runs folder cannot be written.
    """
    script = app_script()
    address = host or LOOPBACK
    _refuse_port(address, port)
    runs = runs_root()
    _refuse_read_only(runs)
    end = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: end.set())
    if not _is_loopback(address):
        sys.stderr.write(
            f"Listening on {address}: everyone who can reach this machine can start, stop and read runs. "
            "There is no login; publish it only where you trust everyone, or behind a login.\n"
        )
    environment = {
        **os.environ,
        "SANDBOX_RUNS": str(runs),
        "SANDBOX_SUPERVISED": "1",
        "SANDBOX_ALLOWED_HOSTS": _allowed(address, allowed_hosts),
    }
    supervisor, app = (
        Child(lambda: start_supervisor(runs)),
        Child(lambda: start_app(script, address, port, environment)),
    )
    try:
        _start_supervisor(supervisor, runs, end)
        app.start()
        shown = "localhost" if _is_loopback(address) or address in ("0.0.0.0", "::") else address
        sys.stdout.write(f"The sandbox is at http://{shown}:{port} (runs in {runs}; Ctrl-C ends it)\n")
        sys.stdout.flush()
        while not end.wait(POLL):
            if not app.keep():
                sys.stderr.write("The app ended twice as soon as it was started; its message stands above.\n")
                return 1
            if not supervisor_runs(runs) and not supervisor.keep():
                sys.stderr.write(
                    "The supervisor ended twice as soon as it was started; its message stands above.\n"
                )
                return 1
        return 0
    finally:
        app.stop()
        supervisor.stop()


class Child:
    """A process that is started again when it ends, unless that happens at once."""

    def __init__(self, start: Callable[[], "subprocess.Popen[bytes]"]) -> None:
        self._start = start
        self.process: subprocess.Popen[bytes] | None = None
        self._since = 0.0
        self._hasty = 0

    def start(self) -> None:
        """Start it."""
        self._since = time.monotonic()
        self.process = self._start()

    def keep(self) -> bool:
        """Start it again if it has ended; False when that has been tried enough."""
        if self.process is not None and self.process.poll() is None:
            return True
        self._hasty = self._hasty + 1 if time.monotonic() - self._since < TOO_SOON else 0
        if self._hasty >= 2:
            return False
        self.start()
        return True

    def stop(self) -> None:
        """Close its input, ask it to end, and see that it does."""
        if self.process is None:
            return
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.terminate()
        try:
            self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def start_app(
    script: Path, address: str, port: int, environment: dict[str, str]
) -> "subprocess.Popen[bytes]":
    """Start `streamlit run app.py`; on Linux it ends with this process, however that ends."""
    flags = {**FLAGS, "server.address": address, "server.port": str(port)}
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    command += [part for name, value in flags.items() for part in (f"--{name}", value)]
    return subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr.fileno(),
        start_new_session=True,  # a Ctrl-C in the terminal reaches it through this process, in order
        preexec_fn=_end_with_parent,
    )


def _start_supervisor(supervisor: Child, runs: Path, end: threading.Event) -> None:
    """Start one unless somebody else's runs, and wait until the folder is taken."""
    if supervisor_runs(runs):
        sys.stderr.write(f"A supervisor already runs for {runs}; it is used.\n")
        return
    supervisor.start()
    deadline = time.monotonic() + 20
    while not supervisor_runs(runs) and time.monotonic() < deadline and not end.is_set():
        time.sleep(0.02)


def _end_with_parent() -> None:
    """Ask the kernel for SIGTERM when the parent dies; elsewhere than on Linux nothing is done."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def _allowed(address: str, names: Sequence[str]) -> str:
    """The Host allow-list: the environment's, the names given, and the address itself if it is one."""
    known = [name for name in os.environ.get("SANDBOX_ALLOWED_HOSTS", "").split(",") if name.strip()]
    own = [] if address in ("0.0.0.0", "::") or _is_loopback(address) else [address]
    return ",".join(dict.fromkeys([*known, *names, *own]))


def _refuse_read_only(runs: Path) -> None:
    """Raise RunUnavailable where no run could be written."""
    try:
        runs.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=runs):
            pass
    except OSError as error:
        raise RunUnavailable(
            f"The runs folder {runs} cannot be written ({error.strerror}); "
            "make it yours, or name another in SANDBOX_RUNS."
        ) from error


def _refuse_port(address: str, port: int) -> None:
    """Raise InvalidKnob where the port cannot be listened on: the app would only say so in a log."""
    if not 1 <= port <= 65535:
        raise InvalidKnob(f"--port is {port}; it must lie between 1 and 65535.")
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(where)
    except (OSError, UnicodeError) as error:
        raise InvalidKnob(
            f"{address[:80]!r} port {port} cannot be listened on ({error}); choose another --port or --host."
        ) from error
