"""Limits: what one request may ask of this server, in steps, time, memory and room on the disk."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.foundations.errors import InvalidExperiment
from sandbox.foundations.written import whole
from sandbox.runner import pace, queue
from sandbox.store.folder import runs_root

MOST_STEPS = 1_000_000
MOST_HOURS = 24.0
MOST_RUN_GB = 4.0
KEPT_FREE = 200e6
"""Bytes of the disk that no run may be planned into."""


@dataclass(frozen=True)
class Limits:
    """What one run may ask for; storage also of all runs together, None where the disk alone decides."""

    steps: int
    seconds: float
    memory: float
    storage: float
    all_storage: float | None


def limits() -> Limits:
    """The server's limits, from its environment (docs/storage.md and docs/sweeps.md name them)."""
    return Limits(
        int(_number("SANDBOX_MAX_STEPS", MOST_STEPS)),
        3600 * _number("SANDBOX_MAX_HOURS", MOST_HOURS),
        default_memory(),
        1e9 * _number("SANDBOX_RUN_GB", MOST_RUN_GB),
        1e9 * _number("SANDBOX_RUNS_GB", 0.0) or None,
    )


def refuse_beyond(plain: Mapping[str, Any] | None, cost: Mapping[str, float], device: str = "cpu") -> None:
    """Raise InvalidExperiment, one sentence, where `plain` with its `cost` is beyond what this server gives.

    `cost` holds flops, bytes, storage and torch's share as `sandbox.experiment.cost` estimates them; what is
    missing is not asked. Without `plain` only the room is looked at, such as that of a whole study.
    """
    most, storage = limits(), cost.get("storage", 0.0)
    if plain is not None:
        _refuse_run(plain, cost, device, most)
        if storage > most.storage:
            raise InvalidExperiment(
                f"This would store about {_size(storage)}; a run may take {_size(most.storage)} here. "
                "Lower the steps, seeds or arms."
            )
    used = stored_bytes() if most.all_storage is not None else 0.0
    if most.all_storage is not None and used + storage > most.all_storage:
        raise InvalidExperiment(
            f"This would store about {_size(storage)}, and the runs here take {_size(used)} of the "
            f"{_size(most.all_storage)} they may; delete some, or ask for less."
        )
    free = free_bytes()
    if storage + KEPT_FREE > free:
        raise InvalidExperiment(
            f"This would store about {_size(storage)} and the disk has {_size(free)} free, of which "
            f"{_size(KEPT_FREE)} stay free; make room, or ask for less."
        )


def _refuse_run(plain: Mapping[str, Any], cost: Mapping[str, float], device: str, most: Limits) -> None:
    steps = int(plain["steps"])
    if steps > most.steps:
        raise InvalidExperiment(
            f"This asks for {whole(steps)} steps; this server trains at most {whole(most.steps)}. "
            "Lower the steps."
        )
    if "flops" in cost:
        with queue.catalogue_connection() as connection:
            known = pace.read_pace(connection)
        guess = known.guess(plain, cost["flops"] / steps, device, cost.get("torch", 0.0))
        seconds = guess.seconds * steps
        if seconds > most.seconds:
            raise InvalidExperiment(
                f"This would take about {seconds / 3600:.1f} hours here ({guess.basis}); a run may take "
                f"{most.seconds / 3600:g}. Lower the steps, seeds, arms or width."
            )
    if device == "cpu" and cost.get("bytes", 0.0) > most.memory:
        raise InvalidExperiment(
            f"This needs about {_size(cost['bytes'])} of memory; a worker may use {_size(most.memory)} here. "
            "Lower the batch size, length, width or seeds."
        )


def run_budget() -> float:
    """Bytes of snapshots that one run may keep: half of what its folder may take (SANDBOX_RUN_GB)."""
    return limits().storage / 2


def default_memory() -> int:
    """Bytes a worker may hold: SANDBOX_WORKER_GB, else half of the machine's memory, at most 8 GiB."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    stated = _number("SANDBOX_WORKER_GB", 0.0)
    return int(stated * 2**30) if stated > 0 else min(8 * 2**30, total // 2)


def free_bytes(runs: Path | None = None) -> float:
    """Bytes that the disk of the runs folder has left."""
    place = runs or runs_root()
    while not place.exists():
        place = place.parent
    return float(shutil.disk_usage(place).free)


def stored_bytes(runs: Path | None = None) -> float:
    """Bytes that all files of the runs folder take together."""
    total = 0.0
    for folder, _, files in os.walk(runs or runs_root()):
        for name in files:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except OSError:  # gone since it was listed
                continue
    return total


def _number(name: str, otherwise: float) -> float:
    """A number of the environment; what cannot be read as one counts as not set."""
    try:
        found = float(os.environ.get(name) or otherwise)
    except ValueError:
        return otherwise
    return found if 0 <= found < float("inf") else otherwise


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{max(n_bytes / 1e6, 0.1):.3g} MB"
