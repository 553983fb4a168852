"""Histogram: how many of a hundred seeds solve the task, seed by seed as they are done."""

import time
from typing import Any

import numpy as np

from sandbox.experiment.experiment import load
from sandbox.mathematics.success_share import wilson_interval
from sandbox.runner.instant.knobs import (
    MANY_EPOCHS,
    MANY_SEEDS,
    SOLVED,
    Knobs,
    experiment_plain,
    steps_per_epoch,
)
from sandbox.runner.instant.team import Team

SEEDS_PER_THREAD = 2
"""Seeds trained together: few, so that the first bars stand soon."""
EPOCHS_OF_TURN = 5
LOOK_EVERY = 50
"""Epochs between two looks at whether a seed has solved the task."""


class Histogram:
    """One computation: `turn` trains a few seeds a little further."""

    def __init__(self, number: int, knobs: Knobs, threads: int) -> None:
        self.number, self.knobs, self.threads = number, knobs, threads
        self.setting = load(experiment_plain(knobs, MANY_EPOCHS, MANY_SEEDS)).setting("standard")
        self.per_epoch = steps_per_epoch(knobs)
        self.began = time.perf_counter()
        self.accuracies: list[float] = []
        """Held-out accuracy after the last epoch, of every seed that is done."""
        self.solved_at: list[int | None] = []
        """The first look at which each of those that end solved had solved the task; None for the others."""
        self._team: Team | None = None
        self._at: list[int | None] = []
        self._epoch = 0

    @property
    def done(self) -> bool:
        """Whether every seed is trained."""
        return len(self.accuracies) >= MANY_SEEDS

    def turn(self) -> bool:
        """Train the seeds in hand some epochs further; True where that finished them."""
        if self._team is None:
            first = len(self.accuracies)
            seeds = self.setting.seeds[first : first + SEEDS_PER_THREAD * self.threads]
            self._team = Team(self.setting, seeds, self.threads)
            self._at, self._epoch = [None] * len(seeds), 0
        self._team.advance(EPOCHS_OF_TURN * self.per_epoch)
        self._epoch += EPOCHS_OF_TURN
        if self._epoch % LOOK_EVERY == 0:
            return self._look(self._team)
        return False

    def _look(self, team: Team) -> bool:
        accuracy = team.evaluate()["test_accuracy"]
        for run in np.flatnonzero(accuracy >= SOLVED):
            self._at[run] = self._epoch if self._at[run] is None else self._at[run]
        if self._epoch < MANY_EPOCHS:
            return False
        self.accuracies += [float(value) for value in accuracy]
        # A seed that lost the task again is not solved, so neither does its epoch count.
        self.solved_at += [
            at if value >= SOLVED else None for at, value in zip(self._at, accuracy, strict=True)
        ]
        self._team = None
        return True

    def told(self) -> dict[str, Any]:
        """Where it stands, as JSON values; `left` is in seconds, None before anything can be said of it."""
        n = len(self.accuracies)
        in_hand = 0 if self._team is None else len(self._at) * self._epoch / MANY_EPOCHS
        share = (n + in_hand) / MANY_SEEDS
        seconds = time.perf_counter() - self.began
        solved = sum(value >= SOLVED for value in self.accuracies)
        low, high = wilson_interval(solved, n) if n else (0.0, 1.0)
        return {
            "type": "histogram", "id": self.number, "n": n, "of": MANY_SEEDS, "epochs": MANY_EPOCHS,
            "accuracies": [round(value, 5) for value in self.accuracies], "solved_at": self.solved_at,
            "solved": solved, "threshold": SOLVED, "low": low, "high": high, "share": round(share, 4),
            "seconds": round(seconds, 2), "done": self.done, "knobs": self.knobs,
            "left": round(seconds * (1 - share) / share, 1) if share > 0.01 else None,
        }  # fmt: skip
