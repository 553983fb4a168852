"""Watches the batch losses of a run for spikes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from sandbox.mathematics.spikes import GAP, MEDIAN_TO_SIGMA, RULE, Spike, find_spikes

CHUNK = 50
"""Losses are searched at every such step, so that what is found depends on the steps alone."""

HISTORY = 200
"""Losses before and in the chunk that are looked at; the first 50 of them only set the level."""

SIGMAS, RISE, LEAST, WINDOW = 8.0, 0.2, 1e-3, 50
MARGIN = 0.7
"""Share of the rise that RULE asks for, from which a search is worth its time."""


@dataclass(frozen=True, kw_only=True)
class FoundSpike:
    """A spike of one seed."""

    arm: int
    seed: int
    """Place of the seed."""
    spike: Spike

    @property
    def words(self) -> str:
        """How far the loss rose, and when."""
        base, height = f"{self.spike.base:.3g}", f"{self.spike.height:.3g}"
        return f"the loss rose from {base} to {height} (steps {self.spike.first} to {self.spike.last})"


class SpikeWatch:
    """Takes the losses of every turn, and finds spikes at every 50th step; `state` survives a resume."""

    def __init__(self, n_arms: int, n_seeds: int) -> None:
        self._losses = np.full((n_arms, n_seeds, HISTORY), np.nan)
        self._told = np.full((n_arms, n_seeds), -1, np.int64)
        self._step = 0

    def turn(self, losses: Sequence[Float[np.ndarray, "n run"]]) -> list[FoundSpike]:
        """Take in the losses of the next updates, by arm; the spikes that a completed chunk shows."""
        n = len(losses[0])
        found: list[FoundSpike] = []
        start = 0
        while start < n:
            size = min(n - start, CHUNK - self._step % CHUNK)
            for arm, values in enumerate(losses):
                fresh = values[start : start + size].T
                self._losses[arm] = np.concatenate([self._losses[arm][:, size:], fresh], axis=1)
            self._step += size
            start += size
            if self._step % CHUNK == 0:
                found += self._search()
        return found

    def recent(self, n: int) -> Float[np.ndarray, "arm seed"]:
        """The median of each seed's last `n` losses; NaN where one of them is, or is missing."""
        return np.median(self._losses[..., -n:], axis=-1)

    def state(self) -> dict[str, np.ndarray]:
        """What a resumed run needs."""
        return {"spikes/losses": self._losses.copy(), "spikes/told": self._told.copy()}

    def load(self, state: dict[str, np.ndarray], step: int) -> None:
        """Take up what `state` returned at `step`."""
        self._step = step
        if "spikes/losses" in state:
            self._losses, self._told = state["spikes/losses"].copy(), state["spikes/told"].copy()

    def _search(self) -> Iterator[FoundSpike]:
        """The spikes that have ended within what is known; one that goes on waits for the next chunk."""
        steps = np.arange(self._step - HISTORY + 1, self._step + 1)
        for arm, seed in np.argwhere(self._may_hold()).tolist():
            losses = self._losses[arm, seed]
            for spike in find_spikes(steps, losses, WINDOW, SIGMAS, RISE, LEAST):
                if spike.last + GAP >= self._step or spike.first <= self._told[arm, seed]:
                    continue
                self._told[arm, seed] = spike.last
                yield FoundSpike(arm=arm, seed=seed, spike=spike)

    def _may_hold(self) -> Bool[np.ndarray, "arm seed"]:
        """Where one of the last two chunks rises above the level of one before it by most of what RULE asks.

        The search itself takes milliseconds for each seed, which noise alone must not cost.
        """
        chunks = self._losses.reshape(*self._losses.shape[:2], -1, CHUNK)
        known = np.isfinite(chunks).all(-1)
        middle = np.median(np.where(known[..., None], chunks, 0.0), axis=-1)
        apart = np.abs(np.where(known[..., None], chunks, 0.0) - middle[..., None])
        spread = MEDIAN_TO_SIGMA * np.median(apart, axis=-1)
        bar = middle + MARGIN * np.maximum(np.maximum(SIGMAS * spread, RISE * np.abs(middle)), LEAST)
        lowest = np.where(known, bar, np.inf)[..., :-1].min(-1)
        recent = self._losses[..., -2 * CHUNK :]
        highest = np.where(np.isfinite(recent), recent, -np.inf).max(-1)
        return highest > lowest


DEFINITION = RULE.format(window=WINDOW, sigmas=SIGMAS, rise=RISE, least=LEAST)
