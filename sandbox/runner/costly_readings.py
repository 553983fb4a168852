"""Costly diagnostics of a run in training: which is read when, and until when others wait."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sandbox.diagnostics import Diagnostic, SnapshotView
from sandbox.diagnostics.schedule import SHARE, TOGETHER, Schedule, Waiting
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.errors import RunUnavailable
from sandbox.foundations.readings import Answer
from sandbox.runner.side_reading import Outcome, SideReading
from sandbox.store import RunWriter

WAITING = "waiting"
"""Key of the run's description under which it stands until when each costly diagnostic waits."""

ASIDE = "aside"
"""The unit of what is asked about a moment; it takes no turn."""

log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class _Round:
    """One reading of a unit at one step, under way."""

    unit: str
    side: SideReading
    step: int = 0
    """Of the snapshot that is read."""
    then: Callable[[list[dict[str, Answer]]], None] | None = None
    """Takes the answers of a question aside, which are no readings of the run."""


class CostlyReadings:
    """Asks costly diagnostics within their share of training's CPU time, one at a time, beside the training.

    `trained` fills the purse, `offer` shows a kept snapshot, `collect` takes in what is done. What is read at
    which step depends on measured times; the numbers trained do not, and those read at a step do not.
    """

    def __init__(self, writer: RunWriter, steps: int, share: float = SHARE) -> None:
        self._writer = writer
        self._steps = steps
        self._units = _units()
        self._schedule = Schedule(list(self._units), share)
        self._cpu, self._n_trained = 0.0, 0
        self._round: _Round | None = None
        self._told: list[dict[str, Any]] | None = None

    @property
    def idle(self) -> bool:
        """Whether nothing is being read."""
        return self._round is None

    def trained(self, seconds: float, n_steps: int) -> None:
        """`n_steps` updates of every arm took `seconds` of CPU."""
        self._schedule.trained(seconds)
        self._cpu += seconds
        self._n_trained += n_steps

    def offer(self, step: int, views: Callable[[], Sequence[SnapshotView]]) -> None:
        """A snapshot is kept at `step`: begin what is due, unless something is under way.

        `views()` is asked for one view per arm.
        """
        left = (self._steps - step) * self._per_step
        unit = self._schedule.due(left) if self.idle and self._n_trained else None
        if unit is None:
            return
        most = self._schedule.most(left) if self._schedule.cost(unit) is None else np.inf
        try:
            looked = views()
            n_pieces = sum(len(view.seeds) for view in looked)
            side = SideReading(self._units[unit], lambda: looked, n_pieces, most)
        except RunUnavailable as fault:
            log.warning("%s waits: %s", unit, fault)
            return
        self._round = _Round(unit=unit, step=step, side=side)

    def aside(
        self,
        kinds: Mapping[str, Diagnostic],
        views: Callable[[], Sequence[SnapshotView]],
        n_pieces: int,
        then: Callable[[list[dict[str, Answer]]], None],
        *,
        on_credit: bool = False,
    ) -> bool:
        """Read `kinds` of `views()`, made beside the training, for `then`, on the same account.

        False where there is no room for it now: something is under way or owed, or a diagnostic has its first
        reading to come. `on_credit` looks at the former alone.
        """
        waits = self._schedule.purse < 0.0 or self._schedule.unread
        if not self.idle or (waits and not on_credit):
            return False
        try:
            side = SideReading(kinds, views, n_pieces)
        except RunUnavailable as fault:
            log.warning("a question aside waits: %s", fault)
            return False
        self._round = _Round(unit=ASIDE, side=side, then=then)
        return True

    def collect(self, step: int) -> bool:
        """Record what has been read since; True if anything was. `step` is where training stands."""
        if self._round is None:
            return False
        outcome = self._round.side.outcome()
        if outcome is None:
            return False
        self._close_round(self._round, outcome)
        self._round = None
        self.tell(step)
        return bool(outcome.answers)

    def wait(self, step: int, patience: float) -> None:
        """Give what is under way up to `patience` seconds to come to an end, and take it in."""
        deadline = time.monotonic() + patience
        while self._round is not None and (left := deadline - time.monotonic()) > 0:
            self._round.side.wait(left)
            self.collect(step)

    def finish(self, step: int, patience: float) -> None:
        """Give what is under way `patience` seconds more, then leave it."""
        self.wait(step, patience)
        self.close()

    def close(self) -> None:
        """Leave what is under way."""
        if self._round is not None:
            self._round.side.cancel()
            self._round = None

    def tell(self, step: int) -> None:
        """Record, where it has changed, until when each kind waits."""
        waits = self.waiting(step)
        if waits != self._told:
            self._told = waits
            self._writer.describe(**{WAITING: waits})

    def waiting(self, step: int) -> list[dict[str, Any]]:
        """By kind: {"kind", "step", "seconds", "cost"}, in the order of their turns.

        `seconds` of training from now (this run's own CPU seconds) until its turn is paid, about which `step`
        that is, and the `cost` in CPU seconds of one reading of all arms and seeds. `step` and
        `seconds` are None where the rest of the run cannot pay for it: it is read on demand alone. `cost` is
        None before the first reading, and where that was left for being too dear.
        """
        left = (self._steps - step) * self._per_step if self._n_trained else np.inf
        waits = self._schedule.waiting(step, self._per_step, left)
        return [_plain(kind, wait, left) for wait in waits for kind in self._units[wait.kind]]

    def state(self) -> dict[str, np.ndarray]:
        """What a resumed run needs."""
        clock = np.array([self._cpu, self._n_trained], np.float64)
        return {**self._schedule.state(), "schedule/trained": clock}

    def load(self, state: Mapping[str, np.ndarray]) -> None:
        """Take up what `state` returned."""
        self._schedule.load(state)
        if "schedule/trained" in state:
            cpu, n_trained = state["schedule/trained"].tolist()
            self._cpu, self._n_trained = cpu, int(n_trained)

    @property
    def _per_step(self) -> float:
        return self._cpu / self._n_trained if self._n_trained else 0.0

    def _close_round(self, done: _Round, outcome: Outcome) -> None:
        if done.then is not None:
            self._schedule.spent(done.unit, outcome.seconds)
            if outcome.answers:
                done.then(outcome.answers)
            return
        if not outcome.answers:
            if outcome.cost > outcome.seconds:
                self._schedule.estimate(done.unit, outcome.cost, outcome.seconds)
            else:  # its process died, and would again
                self._schedule.drop(done.unit)
            return
        self._schedule.spent(done.unit, outcome.seconds)
        for arm, answers in enumerate(outcome.answers):
            for kind, answer in answers.items():
                self._writer.reading(done.step, arm, kind, answer)
        if all(isinstance(a, NotApplicable) for answers in outcome.answers for a in answers.values()):
            self._schedule.drop(done.unit)


def _units() -> dict[str, dict[str, Diagnostic]]:
    """Every costly diagnostic, under the name of the turn it takes."""
    found = {kind: variant() for kind, variant in Diagnostic.variants.items() if variant.cost == "costly"}
    costly = dict(sorted(found.items(), key=lambda item: item[1].usual_ms))
    lead = {kind: group[0] for group in TOGETHER if group[0] in costly for kind in group}
    units: dict[str, dict[str, Diagnostic]] = {}
    for kind, diagnostic in costly.items():
        units.setdefault(lead.get(kind, kind), {})[kind] = diagnostic
    return units


def _plain(kind: str, wait: Waiting, left: float) -> dict[str, Any]:
    known = wait.cost is not None and np.isfinite(wait.cost)
    in_time = wait.seconds <= left
    return {
        "kind": kind,
        "step": wait.step if in_time else None,
        "seconds": round(wait.seconds, 2) if in_time else None,
        "cost": round(float(wait.cost or 0.0), 4) if known else None,
    }
