"""The settings of a run's arms as live changes leave them, and the list of changes that led there."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sandbox.engine.torch_engine import TorchGroup
from sandbox.experiment.experiment import Experiment
from sandbox.experiment.live_change import LiveChange, changed, live_values
from sandbox.foundations.errors import InvalidKnob, SandboxError
from sandbox.runner.live_requests import Requests

CHANGED, REFUSED = "live change", "live change refused"
Tell = Callable[[str, str, str | None], None]
"""Called with an event's kind, detail and arm."""


class LiveSettings:
    """Applies requests between steps; a checkpoint's `state` leads another process to the same settings."""

    def __init__(self, experiment: Experiment, folder: str | Path, state: np.ndarray | None = None) -> None:
        self._experiment = experiment
        plain: dict[str, Any] = {"read": 0, "changes": []} if state is None else json.loads(state.tobytes())
        self.changes = [LiveChange(**change) for change in plain["changes"]]
        self._requests = Requests(folder, plain["read"])
        self.arms = [experiment.setting(arm.name) for arm in experiment.arms]
        """The present setting of every arm."""
        for change in self.changes:
            arm = self._arm(change.arm)
            self.arms[arm] = changed(self.arms[arm], change.key, change.value)

    def state(self) -> np.ndarray:
        """The changes so far, and how many requests they answer, as bytes for a checkpoint."""
        plain = {"read": self._requests.n_read, "changes": [change.to_plain() for change in self.changes]}
        return np.frombuffer(json.dumps(plain).encode(), np.uint8).copy()

    def act(self, step: int, groups: Sequence[TorchGroup], tell: Tell) -> bool:
        """Apply what has been asked for since the last call; True where anything was asked."""
        requests = self._requests.new()
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
