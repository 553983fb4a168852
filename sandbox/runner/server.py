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
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile

from sandbox.foundations.errors import InvalidKnob, RunUnavailable
from sandbox.runner.control import start_supervisor, supervisor_runs
from sandbox.runner.places import app_script
from sandbox.runner.steering import OWNER, refuse_unknown, who_steers
from sandbox.runner.upkeep import Kept, end_all
from sandbox.store.folder import runs_root

LOOPBACK = "127.0.0.1"
POLL = 0.2
STARTS = 3
"""How often the app may end by itself before it has ever answered; then it cannot be served."""

REFUSED = 2
"""Exit code of a supervisor that says why it does not begin, such as a setting that is none."""

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
    """Serve until SIGINT or SIGTERM; 0 then, 1 where the app cannot be started, 2 where no supervisor can.

    What ends later is started again, after longer and longer rests while it ends soon. Raises InvalidKnob
    for a port or host that cannot be listened on, RunUnavailable without app.py or where the runs folder
    cannot be written.
    """
    refuse_unknown()
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
            f"Listening on {address}: everyone who can reach this machine can start and read runs, and "
            f"{'call themselves an owner to' if who_steers() == OWNER else ''} stop them. "
            "There is no login; publish it only where you trust everyone, or behind a login.\n"
        )
    environment = {
        **os.environ,
        "SANDBOX_RUNS": str(runs),
        "SANDBOX_SUPERVISED": "1",
        "SANDBOX_ALLOWED_HOSTS": _allowed(address, allowed_hosts),
    }
    supervisor = Kept("supervisor", lambda: start_supervisor(runs))
    app = Kept(
        "app", lambda: start_app(script, address, port, environment), lambda: _hindrance(address, port)
    )
    try:
        if not _start_supervisor(supervisor, runs, end):
            return REFUSED
        app.start()
        shown = "localhost" if _is_loopback(address) or address in ("0.0.0.0", "::") else address
        sys.stdout.write(f"The sandbox is at http://{shown}:{port} (runs in {runs}; Ctrl-C ends it)\n")
        sys.stdout.flush()
        answered = False
        while not end.wait(POLL):
            answered = answered or _answers(address, port)
            if not answered and app.ended_itself >= STARTS:
                sys.stderr.write(
                    f"The app ended {STARTS} times before it answered; its message stands above.\n"
                )
                return 1
            app.keep()
            if not supervisor_runs(runs):
                supervisor.keep()
        return 0
    finally:
        end_all(app, supervisor)


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


def _start_supervisor(supervisor: Kept, runs: Path, end: threading.Event) -> bool:
    """Start one unless somebody else's runs, and wait until the folder is taken; False where it refuses."""
    if supervisor_runs(runs):
        sys.stderr.write(f"A supervisor already runs for {runs}; it is used.\n")
        return True
    supervisor.start()
    assert supervisor.process is not None
    deadline = time.monotonic() + 20
    while not supervisor_runs(runs) and time.monotonic() < deadline and not end.is_set():
        if supervisor.process.poll() is not None:
            return supervisor.process.returncode != REFUSED or supervisor_runs(runs)
        time.sleep(0.02)
    return True


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
    if hindrance := _hindrance(address, port):
        raise InvalidKnob(f"The app {hindrance}; choose another --port or --host.")


def _hindrance(address: str, port: int) -> str:
    """Why the app cannot listen there, in a clause; empty where it can."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(where)
    except (OSError, UnicodeError) as error:
        return f"cannot listen at {address[:80]!r} port {port} ({error})"
    return ""


def _answers(address: str, port: int) -> bool:
    """Whether somebody takes connections there."""
    with suppress(OSError), socket.create_connection((address, port), timeout=1.0):
        return True
    return False
