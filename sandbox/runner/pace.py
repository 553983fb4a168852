"""Pace: how long an experiment will take here, from a warm-up of this machine and the runs it has done."""

import json
import math
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from statistics import median
from typing import Any

from sandbox.store.folder import plain_text

TABLES = """
CREATE TABLE IF NOT EXISTS facts(key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS paces(
    run_id TEXT PRIMARY KEY, device TEXT NOT NULL, family TEXT NOT NULL, same TEXT NOT NULL,
    flops REAL NOT NULL, seconds REAL NOT NULL, at REAL NOT NULL
);
"""
"""In runs/catalogue.sqlite: what was measured; flops and seconds are of one step of all arms and seeds."""

WARM_UP = "warm-up of both engines"
"""The fact that holds what `sandbox.runner.warm_up` measured."""

ROUGH = (1e-3, 3e10)
"""Seconds of a step that does nothing, and operations per second, before anything was measured here."""

KEPT = 400
"""Runs whose pace is remembered."""

WARMED_UP = "from a warm-up of this machine, within a factor of three"

NEAREST = 5
"""Past runs that an estimate looks at."""

LEAST_STEPS = 20
"""A run of fewer steps says more about its start than about its pace."""


@dataclass(frozen=True)
class Past:
    """What one run took: seconds per step for `flops` operations per step."""

    device: str
    family: str
    same: str
    flops: float
    seconds: float
    warm_up: bool = False
    """Whether it is a few steps of the warm-up rather than a run of somebody's."""


@dataclass(frozen=True)
class Guess:
    """Seconds per step, and in words what they rest on."""

    seconds: float
    basis: str


@dataclass(frozen=True)
class Pace:
    """This machine's pace; `warm_up` holds (flops, seconds) of a step, smallest first."""

    warm_up: Sequence[tuple[float, float]]
    past: Sequence[Past]

    def guess(self, plain: Mapping[str, Any], flops: float, device: str = "cpu") -> Guess:
        """How long a step of the experiment `plain` takes, which costs `flops` operations."""
        family, same = family_of(plain), same_of(plain)
        known = [past for past in self.past if past.device == device]
        alike = [past for past in known if past.same == same][:NEAREST]
        if alike:
            seconds = median(past.seconds * flops / past.flops for past in alike)
            return Guess(seconds, f"as {_runs(len(alike))} of these settings took here")
        first = self._unlearned(flops)
        near = sorted(
            (past for past in known if past.family == family),
            key=lambda past: abs(math.log(past.flops / max(flops, 1.0))),
        )[:NEAREST]
        if near:
            log = median(math.log(past.seconds / self._unlearned(past.flops)) for past in near)
            runs = sum(not past.warm_up for past in near)
            basis = f"from {_runs(runs)} of this kind here" if runs else WARMED_UP
            return Guess(first * math.exp(log), basis)
        if self.warm_up:
            return Guess(first, WARMED_UP)
        return Guess(first, "a first guess, within a factor of five")

    def _unlearned(self, flops: float) -> float:
        overhead, rate = self._line()
        return overhead + flops / rate

    def _line(self) -> tuple[float, float]:
        """Seconds of an empty step, and operations per second, through the two ends of the warm-up."""
        if len(self.warm_up) < 2:
            return ROUGH
        (few, quick), (many, slow) = self.warm_up[0], self.warm_up[-1]
        if slow <= quick or many <= few:
            return quick, ROUGH[1]
        rate = (many - few) / (slow - quick)
        return max(0.0, quick - few / rate), rate


def family_of(plain: Mapping[str, Any]) -> str:
    """Task and model: runs of one family take similar times for the same operations."""
    return f"{plain['task']['kind']} | {plain['model']['kind']}"


def same_of(plain: Mapping[str, Any]) -> str:
    """One text for experiments that differ in nothing but seeds, steps and where they begin."""
    kept = {key: value for key, value in plain.items() if key not in ("seeds", "steps", "fork")}
    return blake2b(plain_text(kept).encode(), digest_size=10).hexdigest()


def read_pace(connection: sqlite3.Connection) -> Pace:
    """What the queue's database knows, the newest runs first."""
    measured = fact(connection, WARM_UP) or {"line": [], "past": []}
    past = connection.execute(
        "SELECT device, family, same, flops, seconds FROM paces ORDER BY at DESC LIMIT ?", (KEPT,)
    )
    warm = [(float(flops), float(seconds)) for flops, seconds in measured["line"]]
    steps = [
        Past("cpu", family, same, flops, seconds, True) for family, same, flops, seconds in measured["past"]
    ]
    return Pace(warm, [*(Past(*row) for row in past), *steps])


def remember(
    connection: sqlite3.Connection,
    run_id: str,
    plain: Mapping[str, Any],
    device: str,
    flops: float,
    seconds: float,
    steps: int,
) -> None:
    """Take in that `steps` of `flops` operations each took `seconds`; too few of them are of no use."""
    if steps < LEAST_STEPS or not (flops > 0 and seconds > 0):
        return
    connection.execute(
        "INSERT OR REPLACE INTO paces VALUES (?, ?, ?, ?, ?, ?, ?)",
        (run_id, device, family_of(plain), same_of(plain), flops, seconds / steps, time.time()),
    )
    connection.execute(
        "DELETE FROM paces WHERE at < (SELECT min(at) FROM (SELECT at FROM paces ORDER BY at DESC LIMIT ?))",
        (KEPT,),
    )


def keep_fact(connection: sqlite3.Connection, key: str, value: Any) -> None:
    """Remember a fact of this server as JSON."""
    connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (key, json.dumps(value)))


def fact(connection: sqlite3.Connection, key: str) -> Any:
    """A fact of this server, None where it is not known."""
    row = connection.execute("SELECT value FROM facts WHERE key = ?", (key,)).fetchone()
    return None if row is None else json.loads(row[0])


def _runs(n: int) -> str:
    return "1 run" if n == 1 else f"{n} runs"
