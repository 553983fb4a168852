"""Outlook: when a waiting run will begin here and how long it will take, from the machine's pace."""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.runner import pace, queue
from sandbox.runner.pace import Pace
from sandbox.runner.turns import Waiting, fair_order, wait_of

UNKNOWN = 60.0
"""Seconds that a run counts for whose operations nobody has counted."""

NEW = "a run that is not there yet"


@dataclass(frozen=True)
class Outlook:
    """`before` runs are served first; it begins in about `wait` seconds and takes about `seconds`."""

    before: int
    wait: float
    seconds: float
    basis: str


def outlook(run_id: str) -> Outlook | None:
    """That of a waiting run; None where it does not wait."""
    with queue.catalogue_connection() as connection:
        order = queue.waiting_order(connection)
        if run_id not in order:
            return None
        return _outlook(connection, order, run_id, _seconds(connection, pace.read_pace(connection)))


def outlook_of_new(
    plain: Mapping[str, Any], cost: Mapping[str, float], owner: str, device: str = "cpu"
) -> Outlook:
    """That of the complete experiment `plain`, were it asked for now; `cost` as a check of it answered."""
    with queue.catalogue_connection() as connection:
        known = pace.read_pace(connection)
        flops = cost["flops"] / max(1, plain["steps"])
        guess = known.guess(plain, flops, device, cost.get("torch", 0.0))
        seconds = _seconds(connection, known) | {NEW: guess.seconds * plain["steps"]}
        order = _order_with(connection, owner)
        return _outlook(connection, order, NEW, seconds, guess.basis)


def _order_with(connection: sqlite3.Connection, owner: str) -> list[str]:
    """The waiting runs with one more of `owner`, who asks last."""
    waiting = connection.execute("SELECT id, owner, created FROM runs WHERE state = 'queued'").fetchall()
    last = max((created for *_, created in waiting), default=0.0) + 1.0
    rows = [Waiting(*row) for row in waiting] + [Waiting(NEW, owner, last)]
    return fair_order(rows, *queue.standing_of_owners(connection))


def _outlook(
    connection: sqlite3.Connection, order: list[str], run_id: str, seconds: dict[str, float], basis: str = ""
) -> Outlook:
    busy = [
        seconds.get(one, UNKNOWN)
        for (one,) in connection.execute(
            "SELECT id FROM runs WHERE state IN ('running', 'stalled', 'paused')"
        )
    ]
    n = int(pace.fact(connection, "workers") or 1)
    wait = wait_of(order, run_id, seconds, busy, n)
    return Outlook(order.index(run_id), wait, seconds.get(run_id, UNKNOWN), basis)


def _seconds(connection: sqlite3.Connection, known: Pace) -> dict[str, float]:
    """What each run that runs or waits still takes."""
    found = {}
    for run_id, text, device, step, flops, torch in connection.execute(
        "SELECT id, plain, device, step, flops, torch FROM runs "
        "WHERE state IN ('queued', 'running', 'stalled', 'paused')"
    ).fetchall():
        plain = json.loads(text)
        steps = plain.get("steps", 0)
        told = flops is not None and isinstance(steps, int) and steps > 0
        if not told or not {"task", "model", "arms"} <= plain.keys():
            found[run_id] = UNKNOWN
        else:
            found[run_id] = known.guess(plain, flops / steps, device, torch).seconds * max(0, steps - step)
    return found
