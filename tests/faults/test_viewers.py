"""Fifty viewers beside four training runs: every update arrives, in order, and soon."""

import asyncio
import json
import os
import sqlite3
import statistics
import threading
import time
from bisect import bisect_left
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from sandbox.live.tokens import Permission, Tokens, read_secret
from sandbox.live.wire import HEADER
from sandbox.runner import queue
from sandbox.runner.control import RunControl, supervisor_runs
from sandbox.store.folder import DATABASE
from tests.browser.serving import LONG
from tests.faults.conftest import Note
from tests.faults.test_kills import serving, trained_to, wait

SECONDS = float(os.environ.get("SANDBOX_FAULT_SECONDS", "600"))
RUNS, VIEWERS = 4, 50
LATENCY = 0.15
"""Seconds from commit to a viewer, median; the budget of the live view, which has painting in it."""
LOOK = 0.005
pytestmark = [pytest.mark.faults, pytest.mark.timeout(3600)]


@dataclass
class Seen:
    """What one viewer was sent: steps with their times of arrival, and what was wrong."""

    run_id: str
    steps: list[int] = field(default_factory=list)
    at: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    sequence: int = 0
    state: str = ""

    def take(self, message: str | bytes, now: float) -> int | None:
        """Note the message; the number to acknowledge where it is an update."""
        if isinstance(message, str):
            said = json.loads(message)
            self.state = said["status"].get("state", "") if said["type"] == "status" else self.state
            return None
        _, _, _, step, sequence, *_ = HEADER.unpack_from(message)
        if sequence != self.sequence + 1:
            self.faults.append(f"update {sequence} after {self.sequence}")
        if self.steps and step < self.steps[-1]:
            self.faults.append(f"step {step} after {self.steps[-1]}")
        self.sequence = sequence
        self.steps.append(step)
        self.at.append(now)
        return int(sequence)


class Commits(threading.Thread):
    """When each step of some runs could first be read from their databases."""

    def __init__(self, folders: list[Path]) -> None:
        super().__init__(daemon=True)
        self._folders = folders
        self.known: dict[str, tuple[list[int], list[float]]] = {folder.name: ([], []) for folder in folders}
        self.ended = threading.Event()

    def run(self) -> None:
        readers = {f.name: sqlite3.connect(f"file:{f / DATABASE}?mode=ro", uri=True) for f in self._folders}
        while not self.ended.wait(LOOK):
            for name, reader in readers.items():
                (step,) = reader.execute(
                    "SELECT max(step) FROM scalars WHERE name = 'loss' AND arm = 0"
                ).fetchone()
                steps, at = self.known[name]
                if step is not None and (not steps or step > steps[-1]):
                    steps.append(step)
                    at.append(time.monotonic())
        for reader in readers.values():
            reader.close()

    def delays(self, seen: Seen) -> list[float]:
        """Seconds from each commit to the update that brought it."""
        steps, at = self.known[seen.run_id]
        found, last = [], -1
        for step, arrived in zip(seen.steps, seen.at, strict=True):
            place = bisect_left(steps, step)
            if place < len(steps) and steps[place] == step and step > last and arrived > at[0]:
                found.append(max(0.0, arrived - at[place]))
            last = step
        return found


async def view(address: str, seen: Seen, until: asyncio.Event) -> None:
    """Watch as a page does: ask for everything, say that each update is drawn."""
    try:
        async with connect(address, max_size=None) as socket:
            await socket.send(json.dumps({"since": -1}))
            reading = asyncio.create_task(_read(socket, seen))
            await until.wait()
            reading.cancel()
    except (OSError, ConnectionClosed) as fault:
        seen.faults.append(f"closed: {fault}")


async def _read(socket: ClientConnection, seen: Seen) -> None:
    try:
        async for message in socket:
            number = seen.take(message, time.monotonic())
            if number is not None:
                await socket.send(json.dumps({"ack": number}))
        seen.faults.append("closed by the server")
    except ConnectionClosed as fault:
        seen.faults.append(f"closed: {fault}")


async def watch_all(port: int, run_ids: list[str], runs: Path, seconds: float) -> list[Seen]:
    """Fifty viewers for `seconds`, shared among the runs; then the runs rest, and all must know their end."""
    tokens, until = Tokens(read_secret(runs)), asyncio.Event()
    everyone = [Seen(run_ids[n % len(run_ids)]) for n in range(VIEWERS)]
    watching = []
    for seen in everyone:
        token = tokens.sign(Permission(seen.run_id))
        address = f"ws://localhost:{port}/live/ws/{seen.run_id}?token={token}"
        watching.append(asyncio.create_task(view(address, seen, until)))
        await asyncio.sleep(0.1)
    await asyncio.sleep(seconds)
    for run_id in run_ids:
        with RunControl(runs / run_id) as control:
            control.pause()
    await asyncio.sleep(10.0)
    until.set()
    await asyncio.gather(*watching)
    return everyone


def test_fifty_viewers_beside_four_runs(
    runs_folder: Path, note: Note, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_WORKERS", str(RUNS))
    runs_folder.mkdir()
    with serving(runs_folder) as served:
        wait(lambda: supervisor_runs(runs_folder), served)
        ids = [
            queue.enqueue(LONG | {"seeds": [n, n + 10], "steps": 100_000}, "ann", keeps_on=True)
            for n in range(RUNS)
        ]
        wait(lambda: all(trained_to(run_id) > 5 for run_id in ids), served)
        commits = Commits([runs_folder / run_id for run_id in ids])
        commits.start()
        everyone = asyncio.run(watch_all(served.port, ids, runs_folder, SECONDS))
        commits.ended.set()
        commits.join()
        trained = {run_id: trained_to(run_id) for run_id in ids}
    faults = [fault for seen in everyone for fault in seen.faults]
    delays = sorted(delay for seen in everyone for delay in commits.delays(seen))
    updates = [len(seen.steps) for seen in everyone]
    note(
        seconds=SECONDS, viewers=VIEWERS, runs=RUNS, faults=faults[:20], updates=sum(updates),
        updates_a_second_and_viewer=[round(count / SECONDS, 2) for count in (min(updates), max(updates))],
        steps=sorted(trained.values()), load=os.getloadavg()[0],
        delay_ms=[round(1000 * delays[int(share * len(delays))]) for share in (0.5, 0.95)],
    )  # fmt: skip
    assert not faults
    assert all(seen.state == "paused" and seen.steps[-1] == trained[seen.run_id] for seen in everyone)
    assert statistics.median(delays) < LATENCY
