"""Schedule: when costly diagnostics are asked, so that they take a stated share of training's CPU time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sandbox.foundations.errors import InvalidData

SHARE = 0.10
"""Share of the training's CPU seconds that costly diagnostics may take together."""

FORGETTING = 0.3  # weight of the newest cost in the running mean: costs change with the weights' spectra
TOGETHER = (("attention jacobian", "jacobian certificates"),)
"""Kinds that share most of their work within one view: read at once, as one turn under the first name."""

SAVED_ROUNDS = 1.0  # rounds of all diagnostics that may be saved up, so that idle credit is no burst later


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """Until when a diagnostic waits: seconds of training, and about which step that is."""

    kind: str
    seconds: float
    step: int
    cost: float | None
    """CPU seconds that it took lately; None before its first reading."""


class Schedule:
    """A purse that training fills and readings empty; kinds take turns, each when the purse holds its cost.

    The first reading of a kind, whose cost nobody knows, needs an empty purse only and may leave a debt,
    which is paid before anything else is asked. Which steps are read depends on measured
    times; the numbers trained, and those read at a step, do not.
    """

    def __init__(self, kinds: Sequence[str], share: float = SHARE) -> None:
        if not 0.0 <= share <= 1.0:
            raise InvalidData(f"The share of training for diagnostics is {share}; choose 0 to 1.")
        self.share = share
        self._turn = list(kinds)
        self._costs: dict[str, float] = {}
        self._purse = 0.0

    @property
    def purse(self) -> float:
        """CPU seconds saved up, negative while a debt is paid back."""
        return self._purse

    @property
    def unread(self) -> bool:
        """Whether a kind has its first reading still to come."""
        return self.share > 0.0 and any(kind not in self._costs for kind in self._turn)

    def trained(self, seconds: float) -> None:
        """Training took `seconds` of CPU: a share of it may be spent."""
        self._purse = min(self._purse + self.share * seconds, max(self._purse, self._most()))

    def due(self, left: float = np.inf) -> str | None:
        """The kind whose turn it is, if the purse holds its cost; None while all wait.

        A kind that `left` seconds of training, all that is to come, cannot pay for lets the others pass.
        """
        if self.share == 0.0:
            return None
        reachable = self._purse + self.share * left
        for kind in self._turn:
            cost = self._costs.get(kind, 0.0)
            if cost <= reachable:
                return kind if self._purse >= cost else None
        return None

    def most(self, left: float) -> float:
        """CPU seconds that a first reading may take: half of what is left to be earned and saved."""
        return max((self._purse + self.share * left) / 2, 0.0)

    def estimate(self, kind: str, cost: float, seconds: float) -> None:
        """A reading of `kind` was left after `seconds`, since all of it would have taken `cost`."""
        self.spent(kind, seconds)
        self._costs[kind] = cost

    def spent(self, kind: str, seconds: float) -> None:
        """A reading of `kind` took `seconds` of CPU: remember what it costs, and pass the turn on."""
        known = self._costs.get(kind)
        if known is None or not np.isfinite(known):
            known = seconds
        self._costs[kind] = known + FORGETTING * (seconds - known)
        self._purse -= seconds
        if kind in self._turn:
            self._turn.remove(kind)
            self._turn.append(kind)

    def drop(self, kind: str) -> None:
        """Ask `kind` no more, for it means nothing here."""
        if kind in self._turn:
            self._turn.remove(kind)

    def cost(self, kind: str) -> float | None:
        """CPU seconds that a reading of `kind` took lately, as a running mean; None before the first."""
        return self._costs.get(kind)

    def waiting(self, step: int, seconds_per_step: float, left: float = np.inf) -> list[Waiting]:
        """Until when each kind waits, in the order of their turns, from what is known now.

        Kinds that `left` seconds of training cannot pay for wait for infinitely many seconds, to step -1.
        """
        found = []
        needed = -self._purse
        reachable = self._purse + self.share * left
        for kind in self._turn if self.share else []:
            cost = self._costs.get(kind)
            if cost is not None and cost > reachable:
                found.append(Waiting(kind=kind, seconds=np.inf, step=-1, cost=cost))
                continue
            needed += cost or 0.0
            seconds = max(needed, 0.0) / self.share
            steps = int(np.ceil(seconds / seconds_per_step)) if seconds_per_step > 0 else 0
            found.append(Waiting(kind=kind, seconds=seconds, step=step + steps, cost=cost))
        return found

    def state(self) -> dict[str, np.ndarray]:
        """What a resumed run needs: the purse and the costs, in the order of the turns."""
        costs = [self._costs.get(kind, np.nan) for kind in self._turn]
        names = np.frombuffer("\n".join(self._turn).encode(), dtype=np.uint8).copy()
        return {
            "schedule/purse": np.array(self._purse),
            "schedule/costs": np.array(costs, float),
            "schedule/kinds": names,
        }

    def load(self, state: Mapping[str, np.ndarray]) -> None:
        """Take up what `state` returned; kinds that it does not know keep their place behind the others."""
        if "schedule/kinds" not in state:
            return
        names = bytes(state["schedule/kinds"].astype(np.uint8)).decode().split("\n")
        known = [name for name in names if name in self._turn]
        costs = dict(zip(names, state["schedule/costs"].tolist(), strict=True)) if names != [""] else {}
        self._turn = known + [kind for kind in self._turn if kind not in known]
        self._costs = {kind: cost for kind, cost in costs.items() if kind in self._turn and np.isfinite(cost)}
        self._purse = float(state["schedule/purse"])

    def _most(self) -> float:
        costs = [self._costs.get(kind, 0.0) for kind in self._turn]
        return SAVED_ROUNDS * sum(cost for cost in costs if np.isfinite(cost))
