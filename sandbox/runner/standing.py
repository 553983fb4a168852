"""Standing: where a run is, for whoever looks: its step, its clock, its state."""

import time
from collections.abc import Callable

import numpy as np
from jaxtyping import Float64

from sandbox.store import RunWriter

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
        """Report, let readers see everything recorded so far, and beat."""
        self.report(state, reason)
        self._writer.commit()
        self._last_commit = time.monotonic()
        self.beat(state)

    def report(self, state: str, reason: str = "") -> None:
        """Record the state; readers see it with the next commit."""
        self.state, self.reason = state, reason
        arm_seconds = dict(zip(self._writer.arms, self.arm_seconds.tolist(), strict=True))
        self._writer.status(state, self.step, self.seconds, reason, arm_seconds=arm_seconds)

    def beat(self, state: str) -> None:
        """Tell whoever started the run that it lives."""
        if self._on_beat is not None and state in ("running", "paused"):
            self._on_beat(state, self.step)
