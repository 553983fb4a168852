"""Standing: where a run is, for whoever looks: its step, its clock, its state."""

import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np
from jaxtyping import Float64

from sandbox.runner.room import DISK_FULL, SENTENCE, Patience, RunBudget
from sandbox.store import RunWriter, StorageFull

COMMIT_EVERY = 0.15
"""Seconds between two commits while nothing special happens."""

Found = tuple[int, dict[str, np.ndarray]]
"""A step and the state after it."""


class Standing:
    """Step, clock and state of one run; `commit` lets readers see them with all that was recorded before."""

    def __init__(self, writer: RunWriter, on_beat: Callable[[str, int], None] | None) -> None:
        self._writer, self._on_beat = writer, on_beat
        self.step = 0
        self.seconds = 0.0
        """Seconds spent training, evaluating and reading, pauses apart."""
        self.arm_seconds: Float64[np.ndarray, " arm"] = np.zeros(len(writer.arms))
        self.state, self.reason = "queued", ""
        self._last_commit = 0.0
        self._budget = RunBudget()
        self.patience = Patience(writer.path)

    @property
    def clock(self) -> Float64[np.ndarray, " n"]:
        """The seconds, and those of each arm's training, as a checkpoint holds them."""
        return np.array([self.seconds, *self.arm_seconds])

    def take(self, step: int, clock: Float64[np.ndarray, " n"]) -> None:
        """Stand at `step` with what `clock` returned then."""
        self.step, self.seconds, self.arm_seconds = step, float(clock[0]), clock[1:].copy()

    @property
    def due(self) -> bool:
        """Whether it is time for a commit."""
        return time.monotonic() - self._last_commit >= COMMIT_EVERY

    def commit(self, state: str, reason: str = "") -> None:
        """Report, let readers see everything recorded so far, and beat; waits where the disk is full."""
        if state == "running" and self.patience.scarce:
            self.report("paused", SENTENCE)  # there is still room for that
            with suppress(StorageFull):
                self._writer.commit()
            self.patience.until_room(self._tell_full)
        self.report(state, reason)
        self.write(self._writer.commit)
        self._budget.turn(self._writer)
        self._last_commit = time.monotonic()
        self.beat(state)

    def write(self, write: Callable[[], object]) -> None:
        """Do `write`, waiting for room where the disk is full; StorageFull where the run is to end."""
        self.patience.through(write, self._tell_full)

    def _tell_full(self) -> None:
        if self._on_beat is not None:
            self._on_beat(DISK_FULL, self.step)

    def report(self, state: str, reason: str = "") -> None:
        """Record the state; readers see it with the next commit."""
        self.state, self.reason = state, reason
        arm_seconds = dict(zip(self._writer.arms, self.arm_seconds.tolist(), strict=True))
        self._writer.status(state, self.step, self.seconds, reason, arm_seconds=arm_seconds)

    def beat(self, state: str) -> None:
        """Tell whoever started the run that it lives."""
        if self._on_beat is not None and state in ("running", "paused"):
            self._on_beat(state, self.step)
