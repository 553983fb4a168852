"""Watches the batch losses of a run for spikes, and says from the steps just before what came with each."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from sandbox.diagnostics import Diagnostic, SnapshotView
from sandbox.foundations.readings import PerHead
from sandbox.mathematics.spikes import MEDIAN_TO_SIGMA, RULE, Clue, Spike, clues, find_spikes

CHUNK = 50
"""Losses are searched at every such step, so that what is found depends on the steps alone."""

HISTORY = 200
"""Losses before and in the chunk that are looked at; the first 50 of them only set the level."""

SIGMAS, RISE, WINDOW = 8.0, 0.2, 50
MARGIN = 0.7
"""Share of the rise that RULE asks for, from which a search is worth its time."""

BEFORE = 15
"""Steps before a spike in which a clue counts; its usual level is that of the 60 steps before those."""

MOST_LOOKS = 32
RING_BYTES = 32 * 2**20
"""Weights of recent steps kept in memory, all arms and seeds together."""

RING_STEPS = 96
CURVATURE = "normalization curvature"
NAMES = {"smallest": "smallest |xi|", "curvature": "curvature sqrt(d)/|xi|^2"}
FALLING = ("smallest |xi|",)
Look = Callable[[int, np.ndarray, int], SnapshotView]
"""Arm, weights (run, parameter) and step -> the view of that arm."""


@dataclass(frozen=True, kw_only=True)
class FoundSpike:
    """A spike of one seed with its explanation in words."""

    arm: int
    seed: int
    """Place of the seed."""
    spike: Spike
    words: str


class SpikeWatch:
    """Takes the losses, norms and weights of every turn, and finds spikes at every 50th step.

    Only `state` survives a resume: the ring of recent weights starts anew, so a spike just after it has
    fewer clues.
    """

    def __init__(self, n_arms: int, n_seeds: int, look: Look) -> None:
        self._look = look
        self._losses = np.full((n_arms, n_seeds, HISTORY), np.nan)
        self._told = np.full((n_arms, n_seeds), -1, np.int64)
        self._step = 0
        self._norms: list[deque[tuple[int, np.ndarray]]] = [deque(maxlen=HISTORY) for _ in range(n_arms)]
        self._known: dict[int, tuple[list[int], list[dict[str, np.ndarray]]]] = {}
        self._ring: deque[tuple[int, list[np.ndarray]]] = deque(maxlen=RING_STEPS)

    def turn(
        self,
        step: int,
        losses: Sequence[Float[np.ndarray, "n run"]],
        norms: Sequence[Float[np.ndarray, " run"] | None],
        weights: Callable[[], list[np.ndarray]],
    ) -> list[FoundSpike]:
        """Take in the losses of the updates up to `step`; the spikes that a completed chunk shows.

        `norms` are the gradient's at `step`, by arm; `weights()` copies the arms' weights for the ring.
        """
        self._remember(step, norms, weights)
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

    def around(self, found: FoundSpike) -> list[tuple[str, SnapshotView]]:
        """Views of the spiking seed ("before", "at", "after") from the ring, as far as it holds them."""
        wanted = {"before": found.spike.first - 1, "at": found.spike.peak, "after": found.spike.last + 1}
        views = []
        for word, step in wanted.items():
            held = min(self._ring, key=lambda kept: abs(kept[0] - step), default=None)
            if held is not None and abs(held[0] - step) <= CHUNK // 5:
                views.append((word, self._look(found.arm, held[1][found.arm], held[0]).for_run(found.seed)))
        return views

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

    def _remember(
        self,
        step: int,
        norms: Sequence[np.ndarray | None],
        weights: Callable[[], list[np.ndarray]],
    ) -> None:
        for ring, values in zip(self._norms, norms, strict=True):
            if values is not None:
                ring.append((step, values))
        copies = weights()
        if not copies:
            return
        self._ring.append((step, copies))
        size = sum(copy.nbytes for copy in copies)
        while len(self._ring) > 3 and size * len(self._ring) > RING_BYTES:
            self._ring.popleft()

    def _search(self) -> Iterator[FoundSpike]:
        """The spikes that have ended within what is known; one that goes on waits for the next chunk."""
        steps = np.arange(self._step - HISTORY + 1, self._step + 1)
        self._known = {}
        for arm, seed in np.argwhere(self._may_hold()).tolist():
            losses = self._losses[arm, seed]
            for spike in find_spikes(steps, losses, WINDOW, SIGMAS, RISE):
                if spike.last >= self._step or spike.first <= self._told[arm, seed]:
                    continue
                self._told[arm, seed] = spike.last
                words = self._explain(arm, seed, spike)
                yield FoundSpike(arm=arm, seed=seed, spike=spike, words=words)

    def _may_hold(self) -> Bool[np.ndarray, "arm seed"]:
        """Where one of the last two chunks rises above the level of one before it by most of what RULE asks.

        The search itself takes milliseconds for each seed, which noise alone must not cost.
        """
        chunks = self._losses.reshape(*self._losses.shape[:2], -1, CHUNK)
        known = np.isfinite(chunks).all(-1)
        middle = np.median(np.where(known[..., None], chunks, 0.0), axis=-1)
        apart = np.abs(np.where(known[..., None], chunks, 0.0) - middle[..., None])
        spread = MEDIAN_TO_SIGMA * np.median(apart, axis=-1)
        bar = middle + MARGIN * np.maximum(SIGMAS * spread, RISE * np.abs(middle))
        lowest = np.where(known, bar, np.inf)[..., :-1].min(-1)
        recent = self._losses[..., -2 * CHUNK :]
        highest = np.where(np.isfinite(recent), recent, -np.inf).max(-1)
        return highest > lowest

    def _explain(self, arm: int, seed: int, spike: Spike) -> str:
        curves = self._lengths(arm, seed)
        if self._norms[arm]:
            steps = np.array([step for step, _ in self._norms[arm]])
            curves["gradient norm"] = steps, np.array([values[seed] for _, values in self._norms[arm]])
        told = [_said(clue) for clue in clues(spike, curves, FALLING, BEFORE)]
        rise = (
            f"the loss rose from {spike.base:.3g} to {spike.height:.3g} (steps {spike.first} to {spike.last})"
        )
        return "; ".join([rise, *(told or ["no clue is known from the steps before"])])

    def _lengths(self, arm: int, seed: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """min |xi| and the curvature at the steps of the ring, where the model has an xi; once a search."""
        if arm not in self._known:
            diagnostic = Diagnostic.variants[CURVATURE]()
            self._known[arm] = [], []
            steps, found = self._known[arm]
            for step, weights in list(self._ring)[:: -(-len(self._ring) // MOST_LOOKS) or 1]:
                answer = diagnostic.read(self._look(arm, weights[arm], step))
                if not isinstance(answer, PerHead):
                    break
                steps.append(step)
                found.append({name: values[:, 0, 0] for name, values in answer.columns.items()})
        steps, found = self._known[arm]
        if not steps:
            return {}
        return {
            name: (np.array(steps), np.array([values[column][seed] for values in found]))
            for column, name in NAMES.items()
        }


def _said(clue: Clue) -> str:
    return f"{clue.name} {clue.extreme:.3g} at step {clue.step}, usually {clue.usual:.3g}"


DEFINITION = RULE.format(window=WINDOW, sigmas=SIGMAS, rise=RISE)
