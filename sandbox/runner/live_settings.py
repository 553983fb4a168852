"""The settings of a run's arms as live changes leave them, and the list of changes that led there."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sandbox.engine.torch_engine import TorchGroup
from sandbox.experiment.experiment import Experiment
from sandbox.experiment.live_change import LiveChange, changed, live_values
from sandbox.foundations.errors import InvalidKnob, SandboxError
from sandbox.foundations.typed_text import shown
from sandbox.runner.live_requests import Requests

CHANGED, REFUSED = "live change", "live change refused"
FAR = 2**31
"""Steps to a change that is not planned."""
Tell = Callable[[str, str, str | None], None]
"""Called with an event's kind, detail and arm."""


class LiveSettings:
    """Applies requests between steps; a checkpoint's `state` leads another process to the same settings.

    `planned` changes are made at their steps, as those of an earlier run that is trained again.
    """

    def __init__(
        self,
        experiment: Experiment,
        folder: str | Path,
        state: np.ndarray | None = None,
        planned: Sequence[LiveChange] = (),
    ) -> None:
        self._experiment = experiment
        plain: dict[str, Any] = {"read": 0, "changes": []} if state is None else json.loads(state.tobytes())
        self.changes = [LiveChange(**change) for change in plain["changes"]]
        self._requests = Requests(folder, plain["read"])
        self.arms = [experiment.setting(arm.name) for arm in experiment.arms]
        """The present setting of every arm."""
        for change in self.changes:
            arm = self._arm(change.arm)
            self.arms[arm] = changed(self.arms[arm], change.key, change.value)
        self._planned = sorted((c for c in planned if c not in self.changes), key=lambda c: c.step)

    @property
    def n_answered(self) -> int:
        """How many requests have been acted on, those that were refused included."""
        return self._requests.n_read

    def room(self, step: int) -> int:
        """How many steps there are from `step` to the next planned change."""
        return min((c.step - step for c in self._planned if c.step > step), default=FAR)

    def state(self) -> np.ndarray:
        """The changes so far, and how many requests they answer, as bytes for a checkpoint."""
        plain = {"read": self.n_answered, "changes": [change.to_plain() for change in self.changes]}
        return np.frombuffer(json.dumps(plain).encode(), np.uint8).copy()

    def act(self, step: int, groups: Sequence[TorchGroup], tell: Tell) -> bool:
        """Apply what has been asked for since the last call; True where anything was asked."""
        due = [change.to_plain() for change in self._planned if change.step <= step]
        self._planned = self._planned[len(due) :]
        requests = [*due, *self._requests.new()]
        done: dict[int, list[str]] = {}
        refused = []
        for request in requests:
            try:
                arm = self._arm(request["arm"])
                before = live_values(self.arms[arm]).get(request["key"])
                setting = changed(self.arms[arm], request["key"], request["value"])
            except SandboxError as error:
                refused.append(str(error))
                continue
            value = live_values(setting)[request["key"]]
            self.arms[arm] = setting
            self.changes.append(LiveChange(step, request["arm"], request["key"], value))
            done.setdefault(arm, []).append(f"{request['key']} from {before:g} to {value:g}")
        for arm, words in done.items():
            groups[arm].change(self.arms[arm])
            stale = "certificates computed before hold for the earlier setting"
            tell(CHANGED, f"{', '.join(words)}; {stale}", self._experiment.arms[arm].name)
        if refused:
            tell(REFUSED, " ".join(refused)[:1000], None)
        return bool(requests)

    def _arm(self, name: str) -> int:
        names = [arm.name for arm in self._experiment.arms]
        if name not in names:
            raise InvalidKnob(f"There is no arm {name[:80]!r} to change; there are {', '.join(names)[:200]}.")
        return names.index(name)


def planned_changes(experiment: Experiment, plain: Sequence[Mapping[str, Any]]) -> list[LiveChange]:
    """The changes of a list of tables, each one that `experiment` can make; InvalidKnob where one cannot."""
    arms = {arm.name: experiment.setting(arm.name) for arm in experiment.arms} if plain else {}
    begin = 0 if experiment.fork is None else experiment.fork.step
    found = []
    for one in plain:
        step, arm = one.get("step"), one.get("arm")
        if not isinstance(step, int) or isinstance(step, bool) or not begin <= step < experiment.steps:
            raise InvalidKnob(
                f"A change is planned after step {shown(step)}; "
                f"training goes from {begin} to {experiment.steps}."
            )
        if arm not in arms:
            raise InvalidKnob(f"A change is planned for arm {shown(arm)}; there are {', '.join(arms)[:200]}.")
        key = str(one.get("key", ""))
        arms[arm] = changed(arms[arm], key, one.get("value"))
        found.append(LiveChange(step, arm, key, live_values(arms[arm])[key]))
    return found
