"""Serving: one process tree that comes up, keeps itself up, and goes down whole."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from sandbox.cli import main
from sandbox.foundations.errors import InvalidKnob
from sandbox.runner import server
from sandbox.runner.control import supervisor_runs
from tests.runner.waiting import eventually

ROOT = Path(__file__).resolve().parents[2]
PAGE = "import streamlit as st\nst.write('here')\n"
LAUNCH = """
import sys
from pathlib import Path
from sandbox.runner import server
server.app_script = lambda: Path(sys.argv[1])
sys.exit(server.serve(int(sys.argv[2]), None, ["lab.example"]))
"""
KILLS = 4


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def healthy(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def launched(runs: Path, page: Path, port: int, log: Path, **more: str) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "SANDBOX_RUNS": str(runs), "PYTHONPATH": str(ROOT), **more}
    command = [sys.executable, "-c", LAUNCH, str(page), str(port)]
    with log.open("wb") as told:
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=told)


@contextmanager
def serving(runs: Path, tmp_path: Path) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    page, port = tmp_path / "page.py", free_port()
    page.write_text(PAGE)
    with launched(runs, page, port, tmp_path / "log") as process:
        try:
            eventually(lambda: healthy(port))
            yield process, port
        finally:
            process.terminate()
            process.wait(timeout=30)


def child(process: "subprocess.Popen[bytes]", words: str) -> psutil.Process | None:
    """The launcher's own child whose command holds `words`, if it is there."""
    for found in psutil.Process(process.pid).children():
        with suppress(psutil.Error):
            if words in " ".join(found.cmdline()):
                return found
    return None


def tree(process: "subprocess.Popen[bytes]") -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def ends_whole(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    """The launcher ends well by the signal, and leaves no process of its own."""
    family = tree(process)
    process.send_signal(number)
    assert process.wait(timeout=30) == 0
    eventually(lambda: not any(one.is_running() for one in family), seconds=10)


@pytest.mark.slow
def test_it_prints_its_address_and_restarts_a_killed_app_and_ends_whole(
    runs_folder: Path, tmp_path: Path
) -> None:
    with serving(runs_folder, tmp_path) as (process, port):
        assert process.stdout is not None
        assert f"http://localhost:{port}" in process.stdout.readline().decode()
        assert supervisor_runs(runs_folder)
        (app,) = [child for child in tree(process) if "streamlit" in child.cmdline()]
        assert app.environ()["SANDBOX_ALLOWED_HOSTS"] == "lab.example"
        app.kill()
        eventually(lambda: not app.is_running() or app.status() == psutil.STATUS_ZOMBIE)
        eventually(lambda: healthy(port))
        ends_whole(process, signal.SIGINT)
    assert not supervisor_runs(runs_folder)


@pytest.mark.slow
def test_nothing_outlives_a_launcher_that_is_killed(runs_folder: Path, tmp_path: Path) -> None:
    with serving(runs_folder, tmp_path) as (process, port):
        family = tree(process)
        process.kill()
        process.wait(timeout=10)
        eventually(lambda: not any(child.is_running() for child in family), seconds=20)
        assert not healthy(port)


@pytest.mark.slow
def test_a_supervisor_that_is_killed_again_and_again_comes_back_and_takes_nothing_with_it(
    runs_folder: Path, tmp_path: Path
) -> None:
    with serving(runs_folder, tmp_path) as (process, port):
        app = child(process, "streamlit")
        for _ in range(KILLS):
            eventually(lambda: child(process, "runner.supervisor"))
            supervisor = child(process, "runner.supervisor")
            assert supervisor is not None
            supervisor.kill()
            gone = supervisor.pid
            eventually(lambda: (found := child(process, "runner.supervisor")) and found.pid != gone)  # noqa: B023
        assert child(process, "streamlit") == app and healthy(port)
        said = (tmp_path / "log").read_text()
        assert said.count("The supervisor was ended by SIGKILL; it is started again") == KILLS
        assert "at once.\n" in said and "in 1 s.\n" in said
        eventually(lambda: supervisor_runs(runs_folder))
        ends_whole(process, signal.SIGTERM)
    assert not supervisor_runs(runs_folder)


@pytest.mark.slow
def test_an_app_that_is_killed_again_and_again_comes_back(runs_folder: Path, tmp_path: Path) -> None:
    with serving(runs_folder, tmp_path) as (process, port):
        for _ in range(KILLS):
            eventually(lambda: child(process, "streamlit"))
            app = child(process, "streamlit")
            assert app is not None
            app.kill()
            app.wait(timeout=10)
        eventually(lambda: healthy(port))
        assert process.poll() is None and supervisor_runs(runs_folder)


@pytest.mark.slow
def test_serve_ends_promptly_while_something_rests_before_its_next_start(
    runs_folder: Path, tmp_path: Path
) -> None:
    with serving(runs_folder, tmp_path) as (process, _):
        log = tmp_path / "log"
        for n in range(1, KILLS + 1):  # after the last there is a rest of two seconds
            eventually(lambda: child(process, "runner.supervisor"))
            supervisor = child(process, "runner.supervisor")
            assert supervisor is not None
            supervisor.kill()
            eventually(lambda: log.read_text().count("it is started again") == n)  # noqa: B023
        began = time.monotonic()
        process.terminate()
        assert process.wait(timeout=30) == 0
        assert time.monotonic() - began < 8
        assert not supervisor_runs(runs_folder)


@pytest.mark.slow
def test_an_app_that_cannot_be_started_at_all_ends_serve(runs_folder: Path, tmp_path: Path) -> None:
    with launched(runs_folder, tmp_path / "missing.py", free_port(), tmp_path / "log") as process:
        assert process.wait(timeout=120) == 1
    assert "The app ended 3 times before it answered" in (tmp_path / "log").read_text()
    assert not supervisor_runs(runs_folder)


@pytest.mark.slow
def test_a_setting_that_no_supervisor_takes_is_said_at_once(runs_folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.py"
    page.write_text(PAGE)
    with launched(runs_folder, page, free_port(), tmp_path / "log", SANDBOX_WORKERS="many") as process:
        assert process.wait(timeout=60) == 2
    assert (tmp_path / "log").read_text().startswith("SANDBOX_WORKERS must be a whole number")


def test_a_port_in_use_or_out_of_range_is_refused_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(InvalidKnob, match="cannot listen at"):
            server._refuse_port("127.0.0.1", taken.getsockname()[1])
    with pytest.raises(InvalidKnob, match="between 1 and 65535"):
        server._refuse_port("127.0.0.1", 70000)
    with pytest.raises(InvalidKnob, match="cannot listen at"):
        server._refuse_port("no such host", 8501)
    assert main(["serve", "--port", "many"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("address", "loopback"),
    [("127.0.0.1", True), ("127.1.2.3", True), ("::1", True), ("localhost", True), ("0.0.0.0", False),
     ("::", False), ("192.168.1.4", False), ("lab.example", False)],
)  # fmt: skip
def test_only_loopback_counts_as_this_machine_alone(address: str, loopback: bool) -> None:
    assert server._is_loopback(address) is loopback


def test_the_allow_list_joins_environment_options_and_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_ALLOWED_HOSTS", "one.example,two.example")
    assert (
        server._allowed("192.168.1.4", ["two.example", "three"])
        == "one.example,two.example,three,192.168.1.4"
    )
    assert server._allowed("0.0.0.0", []) == "one.example,two.example"
