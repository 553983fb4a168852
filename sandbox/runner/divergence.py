"""Divergence: the first step at which a run's batch losses are no longer its parent's, bit for bit."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int64

from sandbox.runner.ghost import PARENT
from sandbox.store import RunWriter, open_run
from sandbox.store.rows import BEFORE

DIVERGED, SAME = "divergence", "no difference"
NONE, OVER = -1, -2
STATE = "divergence/at"


class Divergence:
    """Compares each arm's losses with the ghost's until they part, and tells it as one event an arm.

    The loss of an update is that of the weights before it, so a changed learning rate shows one step later.
    """

    def __init__(self, writer: RunWriter) -> None:
        self._writer = writer
        self._told = writer.described(PARENT) or {}
        self._at: Int64[np.ndarray, " arm"] = np.full(len(writer.arms), NONE)
        self._seen = 0
        self._ghost = []
        # New seeds are to differ; there is nothing to find in that.
        if self._told and not self._told.get("mean"):
            with open_run(writer.path) as run:
                self._ghost = [run.group_curve(f"{BEFORE}loss", arm) for arm in run.arms]

    def turn(self, step: int, losses: Sequence[Float[np.ndarray, "n run"]]) -> None:
        """Take in the losses of the updates up to `step`, all arms."""
        for arm, (steps, ghost) in enumerate(self._ghost):
            if self._at[arm] != NONE:
                continue
            first = step - len(losses[arm]) + 1
            rows = slice(*np.searchsorted(steps, (first, step + 1)))
            here = losses[arm][steps[rows] - first].astype(np.float64)
            there = ghost[rows]
            apart = (here != there) & ~(np.isnan(here) & np.isnan(there))
            if len(here):
                self._seen = max(self._seen, int(steps[rows][-1]))
            if apart.any():
                self._tell(arm, steps[rows], here, there, apart)
            elif len(steps) and step >= steps[-1]:
                self._same(arm)

    def finish(self) -> None:
        """The run is over: tell of the arms that never differed."""
        for arm, _ in enumerate(self._ghost):
            if self._at[arm] == NONE:
                self._same(arm)

    def state(self) -> dict[str, np.ndarray]:
        """What a resumed run needs."""
        return {STATE: self._at.copy(), "divergence/seen": np.array(self._seen)}

    def load(self, state: dict[str, np.ndarray]) -> None:
        """Take up what `state` returned."""
        if STATE in state:
            self._at, self._seen = state[STATE].copy(), int(state["divergence/seen"])

    def _tell(
        self, arm: int, steps: np.ndarray, here: np.ndarray, there: np.ndarray, apart: np.ndarray
    ) -> None:
        row = int(apart.any(axis=1).argmax())
        seed = int(apart[row].argmax())
        self._at[arm] = step = int(steps[row])
        n, every = int(apart[row].sum()), self._told.get("every", 1)
        more = f" and {n - 1} seeds more" if n > 2 else " and one seed more" if n == 2 else ""
        strides = f"; of a long history every {every}th step is compared" if every > 1 else ""
        detail = (
            f"the batch loss is {_shown(here[row, seed], there[row, seed])} in {self._told['run']} "
            f"(seed {self._writer.seeds[seed]}{more}): the first step that differs{strides}"
        )
        self._writer.event(step, DIVERGED, detail, arm)

    def _same(self, arm: int) -> None:
        self._at[arm] = OVER
        if not self._seen:
            return  # the parent has no step beyond the fork's
        detail = f"every batch loss up to here is that of {self._told['run']}, bit for bit"
        self._writer.event(self._seen, SAME, detail, arm)


def _shown(here: float, there: float) -> str:
    """Two numbers with as many digits as tell them apart."""
    for digits in (4, 6, 9):
        if f"{here:.{digits}g}" != f"{there:.{digits}g}":
            break
    return f"{here:.{digits}g} here and {there:.{digits}g}"
