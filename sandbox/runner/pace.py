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

from sandbox.experiment.schedule import snapshot_budget
from sandbox.store.folder import plain_text

TABLES = """
CREATE TABLE IF NOT EXISTS facts(key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS paces(
    run_id TEXT PRIMARY KEY, device TEXT NOT NULL, family TEXT NOT NULL, same TEXT NOT NULL,
    flops REAL NOT NULL, seconds REAL NOT NULL, at REAL NOT NULL,
    torch REAL NOT NULL DEFAULT 0, arms INTEGER NOT NULL DEFAULT 1,
    training REAL, looks REAL NOT NULL DEFAULT 1
);
"""
"""In runs/catalogue.sqlite: what was measured; flops and seconds are of one step of all arms and seeds, torch
is the share of the operations that the torch engine did, training the part of the seconds that went into
updates, looks the readings of an arm and seed that came to a step."""

ADDED = {
    "torch": "ALTER TABLE paces ADD COLUMN torch REAL NOT NULL DEFAULT 0",
    "arms": "ALTER TABLE paces ADD COLUMN arms INTEGER NOT NULL DEFAULT 1",
    "training": "ALTER TABLE paces ADD COLUMN training REAL",
    "looks": "ALTER TABLE paces ADD COLUMN looks REAL NOT NULL DEFAULT 1",
}
"""Columns of `paces` that a queue of an earlier version lacks."""

WARM_UP = "warm-up, a line for each engine"
"""The fact that holds what `sandbox.runner.warm_up` measured."""

NATIVE, TORCH = "native", "torch"
ROUGH = {NATIVE: (1e-3, 3e10), TORCH: (4e-3, 1e10)}
"""By engine, before anything was measured here: seconds of an arm's step that does nothing, and operations
per second."""

MIXED = 0.05
"""Share of the operations from which on an engine counts as one that takes part."""

KEPT = 400
"""Runs whose pace is remembered."""

WARMED_UP = "from a warm-up of this machine, within a factor of three"

NEAREST = 5
"""Past runs that an estimate looks at."""

LEAST_STEPS = 20
"""A run of fewer steps says more about its start than about its pace."""


@dataclass(frozen=True)
class Past:
    """What one run took: seconds per step for `flops` operations per step, all arms and seeds together."""

    device: str
    family: str
    same: str
    flops: float
    seconds: float
    torch: float = 0.0
    """Share of the operations that the torch engine did."""
    arms: int = 1
    training: float | None = None
    """Of the seconds those of the updates alone; None where that is not known, and all of them count so."""
    looks: float = 1.0
    """Readings of an arm and seed that came to a step."""
    warm_up: bool = False
    """Whether it is a few steps of the warm-up rather than a run of somebody's."""

    @property
    def update(self) -> float:
        """Seconds of a step's updates."""
        return self.seconds if self.training is None else self.training

    @property
    def look(self) -> float:
        """Seconds beside the updates, by reading of an arm and seed."""
        return (self.seconds - self.update) / self.looks


@dataclass(frozen=True)
class Guess:
    """Seconds per step, and in words what they rest on."""

    seconds: float
    basis: str


@dataclass(frozen=True)
class Pace:
    """This machine's pace; `warm_up` holds by engine (flops, seconds) of an arm's step, smallest first.

    `look` is what the warm-up found a reading of one arm and seed to take, in seconds.
    """

    warm_up: Mapping[str, Sequence[tuple[float, float]]]
    past: Sequence[Past]
    look: float = 0.0

    def guess(self, plain: Mapping[str, Any], flops: float, device: str = "cpu", torch: float = 0.0) -> Guess:
        """How long a step of the experiment `plain` takes on average, which costs `flops` operations.

        `torch` is the share of them in arms that the torch engine trains; on a GPU those are all.
        """
        torch = torch if device == "cpu" else 1.0
        family, same = family_of(plain, torch), same_of(plain)
        known = [past for past in self.past if past.device == device]
        alike = [past for past in known if past.same == same and not past.warm_up][:NEAREST]
        looks = looks_of(plain)
        if alike:
            seconds = median(past.update * flops / past.flops for past in alike)
            seconds += looks * median(past.look for past in alike)
            return Guess(seconds, f"as {_runs(len(alike))} of these settings took here")
        first = self._unlearned(flops, torch, len(plain["arms"]))
        near = sorted(
            (past for past in known if past.family == family),
            key=lambda past: abs(math.log(past.flops / max(flops, 1.0))),
        )[:NEAREST]
        if near:
            log = median(
                math.log(past.update / self._unlearned(past.flops, past.torch, past.arms)) for past in near
            )
            runs = [past for past in near if not past.warm_up]
            look = median(past.look for past in runs) if runs else self.look
            basis = f"from {_runs(len(runs))} of this kind here" if runs else WARMED_UP
            return Guess(first * math.exp(log) + looks * look, basis)
        first += looks * self.look
        if all(self.warm_up.get(engine) for engine in engines_of(torch)):
            return Guess(first, WARMED_UP)
        return Guess(first, "a first guess, within a factor of five")

    def _unlearned(self, flops: float, torch: float, arms: int) -> float:
        """By the lines alone: each engine does its share of the operations in its share of the arms."""
        seconds = 0.0
        for engine, share in ((NATIVE, 1.0 - torch), (TORCH, torch)):
            overhead, rate = self._line(engine)
            seconds += share * (arms * overhead + flops / rate)
        return seconds

    def _line(self, engine: str) -> tuple[float, float]:
        """Seconds of an empty step, and operations per second, through the two ends of the warm-up."""
        measured = self.warm_up.get(engine, ())
        if len(measured) < 2:
            return ROUGH[engine]
        (few, quick), (many, slow) = measured[0], measured[-1]
        if slow <= quick or many <= few:
            return quick, ROUGH[engine][1]
        rate = (many - few) / (slow - quick)
        return max(0.0, quick - few / rate), rate


def looks_of(plain: Mapping[str, Any]) -> float:
    """Readings of an arm and seed that come to a step, on average over a whole run."""
    steps = max(1, int(plain["steps"]))
    kept = min(steps + 1, snapshot_budget(steps, 0))
    return kept * len(plain["arms"]) * len(plain["seeds"]) / steps


def engines_of(torch: float) -> list[str]:
    """The engines that take part where the torch engine does this share of the operations."""
    return [engine for engine, share in ((NATIVE, 1.0 - torch), (TORCH, torch)) if share > MIXED]


def family_of(plain: Mapping[str, Any], torch: float) -> str:
    """Task, model and engines: runs of one family take similar times for the same operations."""
    return f"{plain['task']['kind']} | {plain['model']['kind']} | {' and '.join(engines_of(torch))}"


def same_of(plain: Mapping[str, Any]) -> str:
    """One text for experiments that differ in nothing but seeds, steps and where they begin."""
    kept = {key: value for key, value in plain.items() if key not in ("seeds", "steps", "fork")}
    return blake2b(plain_text(kept).encode(), digest_size=10).hexdigest()


def read_pace(connection: sqlite3.Connection) -> Pace:
    """What the queue's database knows, the newest runs first."""
    measured = fact(connection, WARM_UP) or {"lines": {}, "past": []}
    past = connection.execute(
        "SELECT device, family, same, flops, seconds, torch, arms, training, looks FROM paces "
        "ORDER BY at DESC LIMIT ?",
        (KEPT,),
    )
    warm = {
        engine: [(float(flops), float(seconds)) for flops, seconds in line]
        for engine, line in measured["lines"].items()
    }
    steps = [
        Past("cpu", family, same, flops, seconds, torch, arms, warm_up=True)
        for family, same, flops, seconds, torch, arms in measured["past"]
    ]
    return Pace(warm, [*(Past(*row) for row in past), *steps], float(measured.get("look", 0.0)))


def remember(
    connection: sqlite3.Connection,
    run_id: str,
    plain: Mapping[str, Any],
    device: str,
    flops: float,
    seconds: float,
    steps: int,
    torch: float = 0.0,
    training: float | None = None,
) -> None:
    """Take in that `steps` of `flops` operations each took `seconds`; too few of them are of no use.

    `training` of the seconds went into updates, the others into what is read and kept of the run.
    """
    if steps < LEAST_STEPS or not (flops > 0 and seconds > 0):
        return
    connection.execute(
        "INSERT OR REPLACE INTO paces(run_id, device, family, same, flops, seconds, at, torch, arms, "
        "training, looks) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            run_id, device, family_of(plain, torch), same_of(plain), flops, seconds / steps, time.time(),
            torch, len(plain["arms"]), None if training is None else training / steps, looks_of(plain),
        ),
    )  # fmt: skip
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
