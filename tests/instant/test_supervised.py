"""The supervisor's instant workers: asked for in the queue's database, a few at most, none for the gone."""

import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from sandbox.foundations.errors import RunUnavailable
from sandbox.runner.children import Children, Worker
from sandbox.runner.instant import asking
from sandbox.runner.instant.asking import ask_for_worker
from sandbox.runner.instant.workers import FRESH, MOST_WORKERS, InstantWorkers
from sandbox.runner.queue import open_catalogue


class FakeProcess:
    """A process that lives as long as the test says."""

    pid = 0

    def __init__(self) -> None:
        self.alive = True

    def is_alive(self) -> bool:
        return self.alive

    def join(self, timeout: float) -> None:
        self.alive = False


class FakeWorker(Worker):
    """A worker without a process."""

    def __init__(self) -> None:
        self.process: Any = FakeProcess()
        self.connection: Any = self

    def close(self) -> None: ...


class Started(Children):
    """Keeps what would have been started."""

    def __init__(self) -> None:
        super().__init__(preload="")
        self.started: list[tuple[str, str]] = []
        self.fails = False

    def instant(self, address: str, secret: str) -> Worker:
        if self.fails:
            raise RunUnavailable("No process can be started.")
        self.started.append((address, secret))
        return FakeWorker()


@pytest.fixture
def children() -> Started:
    return Started()


@pytest.fixture
def catalogue(runs_folder: Path, monkeypatch: pytest.MonkeyPatch) -> sqlite3.Connection:
    monkeypatch.setattr(asking, "ensure_supervisor", lambda: True)
    return open_catalogue(runs_folder)


def waiting(catalogue: sqlite3.Connection) -> int:
    (count,) = catalogue.execute("SELECT count(*) FROM instants").fetchone()
    return int(count)


def test_each_app_that_asks_gets_a_worker_up_to_a_few(
    children: Started, catalogue: sqlite3.Connection
) -> None:
    instants = InstantWorkers(children, catalogue)
    for n in range(MOST_WORKERS + 1):
        ask_for_worker(f"place-{n}", f"secret-{n}")
    instants.take_up()
    assert children.started == [(f"place-{n}", f"secret-{n}") for n in range(MOST_WORKERS)]
    assert waiting(catalogue) == 1 and not instants.bury()
    instants._at_work[0].process.alive = False
    assert instants.bury()
    instants.take_up()
    assert len(children.started) == MOST_WORKERS + 1 and waiting(catalogue) == 0
    instants.end()
    assert instants._at_work == []


def test_who_has_waited_too_long_has_gone(
    children: Started, catalogue: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask_for_worker("place", "secret")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + FRESH + 1)
    InstantWorkers(children, catalogue).take_up()
    assert children.started == [] and waiting(catalogue) == 0


def test_where_no_process_starts_the_supervisor_goes_on(
    children: Started, catalogue: sqlite3.Connection
) -> None:
    children.fails = True
    ask_for_worker("place", "secret")
    instants = InstantWorkers(children, catalogue)
    instants.take_up()
    assert waiting(catalogue) == 0 and instants._at_work == []


def test_without_a_supervisor_nothing_is_asked(
    catalogue: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "ensure_supervisor", lambda: False)
    with pytest.raises(RunUnavailable, match="No supervisor starts"):
        ask_for_worker("place", "secret")
    assert waiting(catalogue) == 0
