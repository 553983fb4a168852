"""The queue: every run that was asked for, its state, and questions to the trainer, in runs/catalogue.sqlite.

Pages ask, the supervisor answers; this module needs no torch.
"""

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.foundations.errors import InvalidPlain, RunUnavailable
from sandbox.runner import pace
from sandbox.runner.catalogue_file import catalogue
from sandbox.runner.control import RunControl
from sandbox.runner.names import new_run_id
from sandbox.runner.questions import ask
from sandbox.runner.turns import Waiting, fair_order
from sandbox.store.folder import run_path, runs_root
from sandbox.store.forks import begun_at

__all__ = [
    "QueuedRun", "catalogue", "catalogue_connection", "check", "diagnose", "enqueue", "open_catalogue",
    "position", "refusal", "requeue", "state", "states", "states_of", "stop", "take_again",
    "waiting_order",
]  # fmt: skip

MAX_PLAIN = 200_000
"""Longest experiment in characters of JSON; a real one has a few thousand."""

SCHEMA = (
    """
CREATE TABLE IF NOT EXISTS runs(
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, plain TEXT NOT NULL, device TEXT NOT NULL,
    state TEXT NOT NULL, reason TEXT NOT NULL DEFAULT '', created REAL NOT NULL, started REAL, finished REAL,
    attempt INTEGER NOT NULL DEFAULT 0, pid INTEGER, heartbeat REAL, step INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS checks(
    id INTEGER PRIMARY KEY AUTOINCREMENT, plain TEXT NOT NULL, answer TEXT, asked REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS questions(run_id TEXT PRIMARY KEY, asked REAL NOT NULL);
CREATE TABLE IF NOT EXISTS instants(address TEXT PRIMARY KEY, secret TEXT NOT NULL, asked REAL NOT NULL);
"""
    + pace.TABLES
)
ADDED = {
    "flops": "ALTER TABLE runs ADD COLUMN flops REAL",
    "keeps_on": "ALTER TABLE runs ADD COLUMN keeps_on INTEGER NOT NULL DEFAULT 0",
    "began": "ALTER TABLE runs ADD COLUMN began REAL",
    "torch": "ALTER TABLE runs ADD COLUMN torch REAL NOT NULL DEFAULT 0",
}
"""Columns of `runs` that a queue of an earlier version lacks: operations of the whole run where they are
known, whether it trains on when nobody watches and others wait, when its last worker began, and the share of
the operations in arms that the torch engine trains."""


@dataclass(frozen=True)
class QueuedRun:
    """One row of the queue: what is known about a run without opening its folder."""

    id: str
    owner: str
    name: str
    state: str
    reason: str
    created: float
    started: float | None
    finished: float | None
    attempt: int
    pid: int | None
    heartbeat: float | None
    step: int
    device: str


COLUMNS = ", ".join(QueuedRun.__dataclass_fields__)
NEWEST = "SELECT " + COLUMNS + " FROM runs ORDER BY created DESC LIMIT ?"
NEWEST_OF_OWNER = "SELECT " + COLUMNS + " FROM runs WHERE owner = ? ORDER BY created DESC LIMIT ?"
ONE = "SELECT " + COLUMNS + " FROM runs WHERE id = ?"


@contextmanager
def catalogue_connection(runs: Path | None = None) -> Iterator[sqlite3.Connection]:
    """A connection to the queue's database, made where it is missing; one transaction."""
    connection = open_catalogue(runs or runs_root())
    try:
        with connection:
            yield connection
    finally:
        connection.close()


def open_catalogue(runs: Path) -> sqlite3.Connection:
    """Open runs/catalogue.sqlite for as long as the caller likes; RunUnavailable where it cannot be."""
    try:
        runs.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(runs / "catalogue.sqlite", timeout=10, check_same_thread=False)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.executescript(SCHEMA)
        for asked, added in (("PRAGMA table_info(runs)", ADDED), ("PRAGMA table_info(paces)", pace.ADDED)):
            known = {row[1] for row in connection.execute(asked)}
            for column in added.keys() - known:
                with suppress(sqlite3.OperationalError):  # somebody else has just added it
                    connection.execute(added[column])
    except (OSError, sqlite3.Error) as error:
        raise RunUnavailable(
            f"The queue {runs / 'catalogue.sqlite'} cannot be opened ({error}); "
            "check that SANDBOX_RUNS names a folder that can be written."
        ) from error
    return connection


def enqueue(
    plain: dict[str, Any],
    owner: str,
    name: str = "",
    device: str = "cpu",
    run_id: str | None = None,
    *,
    cost: Mapping[str, float] | None = None,
    keeps_on: bool = False,
) -> str:
    """Ask for a run of the experiment `plain`; returns its id at once. The worker validates it again.

    With `run_id` its folder may be there already, such as that of a run that goes on from another. `cost`
    is what a check of it answered; `keeps_on` lets it train on unwatched while others wait. A run that goes
    on from another waits at the step it begins with, so that its steps before count for nothing.
    """
    text = _as_text(plain)
    made = run_id is not None
    run_id = run_id or new_run_id()
    folder = run_path(run_id)
    folder.mkdir(parents=True, exist_ok=made)
    RunControl(folder, create=True).close()  # so that a queued run can be paused or stopped before it starts
    with catalogue_connection() as connection:
        connection.execute(
            "INSERT INTO runs(id, owner, name, plain, device, state, created, flops, torch, keeps_on, step) "
            "VALUES (?, ?, ?, ?, ?, 'queued', max(?, coalesce((SELECT max(created) FROM runs WHERE "
            "state = 'queued'), 0) + 1e-5), ?, ?, ?, ?)",  # in order, also after the clock was set back
            (
                run_id, owner[:200], (name or run_id.rsplit("-", 1)[0])[:200], text, device, time.time(),
                cost and cost["flops"], cost.get("torch", 0.0) if cost else 0.0, int(keeps_on),
                begun_at(plain),
            ),
        )  # fmt: skip
    return run_id


def stop(run_id: str) -> None:
    """Stop a run: a waiting one leaves the queue at once, a running one writes a checkpoint and ends."""
    with RunControl(run_path(run_id)) as control:
        control.stop()
    with catalogue_connection() as connection:
        connection.execute(
            "UPDATE runs SET state = 'stopped', finished = ?, reason = 'stopped before it began' "
            "WHERE id = ? AND state = 'queued'",
            (time.time(), run_id),
        )


def requeue(run_id: str) -> None:
    """Take a stopped or failed run up again from its latest checkpoint."""
    with RunControl(run_path(run_id)) as control:
        control.resume()
    with catalogue_connection() as connection:
        connection.execute(
            "UPDATE runs SET state = 'queued', reason = '', finished = NULL "
            "WHERE id = ? AND state IN ('stopped', 'failed')",
            (run_id,),
        )


def take_again(run_id: str) -> None:
    """Queue a run that the queue knows, whatever became of it, behind those that wait."""
    run_path(run_id).mkdir(parents=True, exist_ok=True)
    with RunControl(run_path(run_id), create=True) as control:
        control.resume()
    with catalogue_connection() as connection:
        connection.execute(
            "UPDATE runs SET state = 'queued', reason = '', finished = NULL, created = ? "
            "WHERE id = ? AND state IN ('stopped', 'failed', 'done')",
            (time.time(), run_id),
        )


def states(owner: str | None = None, limit: int = 200) -> list[QueuedRun]:
    """The newest runs first, of everybody or of one owner."""
    with catalogue_connection() as connection:
        if owner is None:
            rows = connection.execute(NEWEST, (limit,))
        else:
            rows = connection.execute(NEWEST_OF_OWNER, (owner, limit))
        return [QueuedRun(*row) for row in rows]


def state(run_id: str) -> QueuedRun | None:
    """What the queue knows of one run; None where it never went through the queue."""
    with catalogue_connection() as connection:
        row = connection.execute(ONE, (run_id,)).fetchone()
        return QueuedRun(*row) if row else None


def states_of(run_ids: Iterable[str]) -> dict[str, QueuedRun]:
    """What the queue knows of these runs, by id; those that never went through it are left out."""
    with catalogue_connection() as connection:
        found = [connection.execute(ONE, (run_id,)).fetchone() for run_id in run_ids]
        return {row[0]: QueuedRun(*row) for row in found if row}


def waiting_order(connection: sqlite3.Connection) -> list[str]:
    """The waiting runs in the order in which they will be served: round robin between owners."""
    waiting = connection.execute("SELECT id, owner, created FROM runs WHERE state = 'queued'").fetchall()
    return fair_order([Waiting(*row) for row in waiting], *standing_of_owners(connection))


def standing_of_owners(connection: sqlite3.Connection) -> tuple[dict[str, int], dict[str, float]]:
    """How many runs each owner has with a trainer, and when each was last given one."""
    running = connection.execute(
        "SELECT owner, count(*) FROM runs WHERE state IN ('running', 'paused', 'stalled') GROUP BY owner"
    )
    served = connection.execute("SELECT owner, max(began) FROM runs WHERE began IS NOT NULL GROUP BY owner")
    return dict(running.fetchall()), dict(served.fetchall())


def position(run_id: str) -> int:
    """How many waiting runs are served before this one, itself included; 0 when it does not wait."""
    with catalogue_connection() as connection:
        order = waiting_order(connection)
    return order.index(run_id) + 1 if run_id in order else 0


def diagnose(run_id: str, kind: str, step: int) -> str:
    """Ask for a diagnostic at a stored step of any run; the id by which `questions_of` and `cancel` know it.

    Its trainer answers while there is one, else a process that the supervisor starts.
    """
    number = ask(run_path(run_id), kind, step)
    with catalogue_connection() as connection:
        connection.execute("INSERT OR REPLACE INTO questions VALUES (?, ?)", (run_id, time.time()))
    return number


def check(plain: dict[str, Any], timeout: float = 10.0) -> dict[str, Any]:
    """Ask a process with torch whether `plain` is a sound experiment.

    Answers {"ok", "error", "plain" (canonical), "arms", "cost"}, as `sandbox.experiment` checks it.
    No answer within `timeout` seconds is an answer too: ok is False and the error says so.
    """
    try:
        text = _as_text(plain)
    except InvalidPlain as error:
        return refusal(str(error))
    with catalogue_connection() as connection:
        asked = connection.execute(
            "INSERT INTO checks(plain, asked) VALUES (?, ?)", (text, time.time())
        ).lastrowid
    deadline = time.monotonic() + timeout
    with catalogue_connection() as connection:
        while time.monotonic() < deadline:
            row = connection.execute("SELECT answer FROM checks WHERE id = ?", (asked,)).fetchone()
            if row and row[0]:
                return dict(json.loads(row[0]))
            time.sleep(0.005)
    return refusal(f"The trainer did not answer within {timeout:g} s; try again, or restart the app.")


def refusal(sentence: str) -> dict[str, Any]:
    """The answer to a question that could not be answered with yes."""
    return {"ok": False, "error": sentence, "plain": None, "arms": [], "cost": {}}


def _as_text(plain: dict[str, Any]) -> str:
    try:
        text = json.dumps(plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidPlain(
            f"The experiment cannot be written as JSON ({error}); use tables, lists, numbers."
        ) from error
    if len(text) > MAX_PLAIN:
        raise InvalidPlain(
            f"The experiment has {len(text)} characters of JSON; at most {MAX_PLAIN} are taken."
        )
    return text
