"""Rewinding: leads a run's groups to the step it goes on from, by training the missing steps again."""

import time
from collections.abc import Callable, Sequence

import numpy as np

from sandbox.engine.torch_engine import TorchGroup
from sandbox.experiment.experiment import Experiment
from sandbox.experiment.fork import Fork
from sandbox.experiment.setting import ArmSetting
from sandbox.foundations.written import whole
from sandbox.runner.engines import ENGINES, build_groups
from sandbox.runner.standing import Found, Standing
from sandbox.store import RunWriter
from sandbox.store.checkpoint import read_start, save_start

REPLAYED, DIFFERS = "replay", "replay differs"
"""Kinds of the event that steps were trained again: the stored weights came out, or others."""

AT_ONCE, MOST_AT_ONCE = 0.05, 1000
"""Seconds, and steps, between two looks at what is wished for."""

State = dict[str, np.ndarray]


class Rewind:
    """Brings the arms of an experiment with a fork to the step from which it goes on.

    Begins at what the run's folder starts from, or at step 0, and makes exactly the updates that are missing,
    each under the setting that the parent made it with: on the same device and engine every bit comes out
    as it was.
    """

    def __init__(
        self, experiment: Experiment, fork: Fork, writer: RunWriter, device: str, engine: str
    ) -> None:
        self._experiment, self._fork, self._writer = experiment, fork, writer
        self._device, self._engine = device, engine
        self.step, state = read_start(writer.path) or (0, {})
        self._began = self.step
        self._groups: list[TorchGroup] = []
        self._states = [_own(state, f"group/{arm}/") for arm in range(len(writer.arms))]
        self._known = {name: array for name, array in state.items() if not name.startswith("group/")}
        self._clock = self._known.get("clock", np.zeros(1 + len(writer.arms))).copy()
        self._spent = 0.0

    def run(self, standing: Standing, wish: Callable[[], str]) -> Found | None:
        """The fork's step and the state there, as a checkpoint holds it; None where a stop was wished for.

        Either way the folder starts from the step reached from now on. Where the parent's weights at the
        fork's step are known they are compared, and what came of it is an event.
        """
        bare = {arm.name: self._experiment.bare_setting(arm.name) for arm in self._experiment.arms}
        for until, settings in self._fork.way(bare, self._began):
            self._set(settings)
            while self.step < until and self._look(standing, wish) != "stop":
                self._advance(until - self.step)
            if self.step < until:
                break
        standing.take(self.step, self._clock)
        if self._groups:
            self._states = [group.state() for group in self._groups]
            save_start(self._writer.path, self.step, self._whole())
        if self.step < self._fork.step:
            standing.commit(
                "stopped", f"stopped at step {whole(self.step)}, on the way to step {whole(self._fork.step)}"
            )
            return None
        self._compare()
        return self.step, self._whole() | self._noted()

    def _look(self, standing: Standing, wish: Callable[[], str]) -> str:
        """Say where it is, wait while a pause is wished for, and return what is wished for then."""
        standing.take(self.step, self._clock)
        if wish() == "pause":
            standing.commit("paused")
        while wish() == "pause":
            time.sleep(0.02)
            if standing.due:
                standing.beat("paused")
        if standing.due:
            standing.commit("running", f"trains again up to step {self._fork.step}, where this run goes on")
        return wish()

    def _set(self, settings: Sequence[ArmSetting]) -> None:
        """Let the groups go on under other settings; another batch size cuts another order of batches."""
        if self._groups and all(
            group.setting.batch_size == setting.batch_size
            for group, setting in zip(self._groups, settings, strict=True)
        ):
            for group, setting in zip(self._groups, settings, strict=True):
                group.change(setting)
            return
        states = [group.state() for group in self._groups] or self._states
        told = self._writer.described(ENGINES) is not None
        at = self.step if told else None
        self._groups = build_groups(self._writer, settings, self._device, self._engine, at)
        for group, state in zip(self._groups, states, strict=True):
            if state:
                group.load(state)

    def _advance(self, left: int) -> None:
        """A few of the steps that are left, all arms."""
        done = self.step - self._began
        fitting = int(AT_ONCE * done / self._spent) if done and self._spent else 1
        n = max(1, min(left, fitting, MOST_AT_ONCE))
        for group in self._groups:
            started = time.perf_counter()
            group.advance(n)
            self._spent += time.perf_counter() - started  # no time of this run: the parent's, once more
        self.step += n

    def _whole(self) -> State:
        named = {
            f"group/{arm}/{name}": array
            for arm, state in enumerate(self._states)
            for name, array in state.items()
        }
        return {**self._known, **named, "clock": self._clock}

    def _noted(self) -> State:
        """What a checkpoint also holds, where the folder does not know it."""
        shape = len(self._writer.arms), len(self._writer.seeds)
        flags = {f"events/{name}": np.zeros(shape, np.bool_) for name in ("crossed", "diverged")}
        return {name: self._known.get(name, array) for name, array in flags.items()}

    def _compare(self) -> None:
        """Tell whether the weights are those that the parent stored at the step, to the last bit."""
        step = self._fork.step
        way = (
            f"steps {self._began + 1} to {step} were trained again, from "
            f"{f'the checkpoint at step {self._began}' if self._began else 'the start'}"
            if step > self._began
            else f"the checkpoint at step {step} was taken up"
        )
        for arm, state in enumerate(self._states):
            stored = self._known.get(f"weights/{arm}")
            if stored is None:
                self._writer.event(step, REPLAYED, f"{way}; no weights are stored there to compare with", arm)
            elif stored.tobytes() == state["theta"].tobytes():
                self._writer.event(step, REPLAYED, f"{way}: bit for bit the weights that are stored", arm)
            else:
                most = float(np.nanmax(np.abs(stored - state["theta"]), initial=0.0))
                detail = (
                    f"{way}; the weights differ from those stored by up to {most:.3g}: another device, "
                    "engine or build than the parent's"
                )
                self._writer.event(step, DIFFERS, detail, arm)


def _own(state: State, before: str) -> State:
    return {name.removeprefix(before): array for name, array in state.items() if name.startswith(before)}
