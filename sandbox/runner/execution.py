"""Execution: trains all arms of an experiment in lock step into a run folder, and obeys the run's control."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from sandbox.engine.device import one_thread
from sandbox.engine.evaluation import Metrics
from sandbox.experiment.experiment import Experiment
from sandbox.experiment.live_change import LiveChange
from sandbox.foundations.errors import SandboxError
from sandbox.foundations.written import whole
from sandbox.runner.control import RunControl
from sandbox.runner.costly_readings import CostlyReadings
from sandbox.runner.divergence import Divergence
from sandbox.runner.engines import build_groups
from sandbox.runner.live_readings import LiveReadings
from sandbox.runner.live_requests import ANSWERED
from sandbox.runner.live_settings import LiveSettings
from sandbox.runner.on_demand import OnDemand
from sandbox.runner.recording import Recorder, Snapshot
from sandbox.runner.rewinding import Rewind
from sandbox.runner.standing import Found, Standing
from sandbox.runner.stretch import Stretch
from sandbox.runner.timetable import Timetable
from sandbox.runner.training_events import TrainingEvents
from sandbox.store import RunWriter

TURN = 0.012
"""Seconds of training between two looks at the control."""

CHECKPOINT_EVERY = 2.0
CHECKPOINT_SHARE = 0.04
"""Most of a run's time that checkpoints may take."""

MOST_STEPS_AT_ONCE = 1000
LAST_PATIENCE = 0.5
"""Seconds that a finished run waits for a costly reading, and before that for unexplained spikes."""

CHANGES = "live/changes"


class Execution:
    """One execution of `experiment` into `folder`, from its latest checkpoint where there is one.

    `live` adds readings between the scheduled snapshots, for viewers; they change nothing that is
    trained or scheduled. `changes` of live knobs are made at their steps. Raises RunUnavailable where
    the folder is written by another process or holds another experiment, DeviceUnavailable or
    EngineUnavailable for what this machine lacks.
    """

    def __init__(
        self,
        experiment: Experiment,
        folder: str | Path,
        device: str = "cpu",
        *,
        live: bool = False,
        engine: str = "auto",
        changes: Sequence[LiveChange] = (),
        on_snapshot: Callable[[Snapshot], None] | None = None,
        on_beat: Callable[[str, int], None] | None = None,
    ) -> None:
        self.experiment = experiment
        self.device = device
        self._engine, self._planned = engine, changes
        self._live = live
        self._on_snapshot = on_snapshot
        self._interrupted = False
        self._writer = RunWriter.open(folder, experiment.to_plain())
        self._standing = Standing(self._writer, on_beat)
        self._begins, self._commit = False, self._standing.commit
        self._control = RunControl(folder, create=True)
        self._standing.patience.gives_up = lambda: self._wish == "stop"
        self._folder = folder
        self._used = self._control.granted
        self._single = False
        """Whether the next turn is a single step that was granted while the run was paused."""
        self._checkpoint_cost = 0.0
        self._seconds_per_step = 0.0
        self._last_checkpoint = 0.0
        self._saved = -1
        self._costly = CostlyReadings(self._writer, experiment.steps)
        self._on_demand = OnDemand(folder, self._writer)
        self._opened = ExitStack()
        for opened in (self._writer, self._control, self._on_demand, self._costly):
            self._opened.callback(opened.close)

    @property
    def step(self) -> int:
        """The step that training stands at."""
        return self._standing.step

    def interrupt(self) -> None:
        """Ask `run` to write a checkpoint and return after the present step; safe in a signal handler."""
        self._interrupted = True

    def run(self) -> tuple[str, str]:
        """Train to the step limit or until told to stop; returns `done` or `stopped`, and the reason.

        A deliberate error is recorded as the reason for `failed`, then raised.
        """
        try:
            found = self._writer.latest_checkpoint()
            self._begins, fork = found is None, self.experiment.fork
            if found is not None:
                self._standing.take(found[0], found[1]["clock"])
            self._commit("running")
            one_thread()
            if self._begins and fork is not None and fork.step:
                rewind = Rewind(self.experiment, fork, self._writer, self.device, self._engine)
                found = rewind.run(self._standing, lambda: self._wish)
                if found is None:
                    return "stopped", self._standing.reason
            self._prepare(found)
            return self._train()
        except SandboxError as error:
            self._standing.report("failed", str(error))
            raise
        except Exception as error:
            reason = f"The trainer met an error of its own: {type(error).__name__}: {str(error)[:300]}"
            self._standing.report("failed", reason)
            raise
        finally:
            self._opened.close()

    def _prepare(self, found: Found | None) -> None:
        """Build the groups and take up the state `found`; record the first step where the run begins."""
        experiment = self.experiment
        self._live_settings = LiveSettings(
            experiment, self._folder, None if found is None else found[1].get(CHANGES), self._planned
        )
        arms, at = self._live_settings.arms, None if found is None else found[0]
        self._groups = build_groups(self._writer, arms, self.device, self._engine, at)
        self._recorder = Recorder(experiment, self._groups, self._writer)
        self._recorder.describe(self.device)
        self._frames = LiveReadings(self._recorder, self._groups, self._writer, self.device)
        self._opened.callback(self._frames.close)
        self._events = TrainingEvents(self._groups, self._writer, self._recorder, self._costly)
        row = sum(group.layout.size for group in self._groups) * len(experiment.seeds) * 4
        self._timetable = Timetable(experiment, row)
        self._divergence = Divergence(self._writer)
        if found is not None:
            self._saved, arrays = found
            self._recorder.load(arrays)
            self._costly.load(arrays)
            self._events.load(arrays, self.step)
            self._divergence.load(arrays)
        if self._begins:
            self._begin()
        self._costly.tell(self.step)
        self._commit("running")
        self._last_checkpoint = time.monotonic()

    def _train(self) -> tuple[str, str]:
        limit = whole(self.experiment.steps)
        while self.step < self.experiment.steps:
            if self._wish == "stop":
                return self._end("stopped", f"stopped at step {whole(self.step)} of {limit}")
            # Read once: a pause that comes while the turn is made ready has granted no step of it.
            self._single = self._wish == "pause"
            if self._single and not self._wait_for_leave():
                continue
            self._change()
            self._turn()
        return self._end("done", f"the step limit of {limit} is reached")

    def _change(self) -> None:
        """Act on what was asked of live knobs; the checkpoint that follows keeps what came of it."""

        def tell(kind: str, detail: str, arm: str | None) -> None:
            self._writer.event(self.step, kind, detail, arm)

        if self._live_settings.act(self.step, self._groups, tell):
            self._frames.close()  # its process has the settings of before
            changes = [change.to_plain() for change in self._live_settings.changes]
            self._writer.describe(**{"changes": changes, ANSWERED: self._live_settings.n_answered})
            self._save()

    def _turn(self) -> None:
        """A few steps of every arm, then whatever is due after them."""
        turn = Stretch()
        n = self._steps_at_once()
        losses: dict[int, np.ndarray] = {}
        # Who is first finds the caches cold and looks slow, so every arm is in its turn.
        for arm in np.roll(range(len(self._groups)), -self.step).tolist():
            training = Stretch()
            losses[arm] = self._groups[arm].advance(n)
            self._standing.arm_seconds[arm] += training.seconds
        self._costly.trained(turn.cpu, n)
        per_step = turn.seconds / n
        # Down at once, up slowly: a turn that is too long is felt, one that is too short is not.
        self._seconds_per_step = max(per_step, 0.8 * self._seconds_per_step)
        self._arrive(self.step + n, [losses[arm] for arm in sorted(losses)])
        self._costly.collect(self.step)
        self._on_demand.turn()
        self._standing.seconds += turn.seconds
        now = time.monotonic()
        pausing = self._pausing()
        if pausing or self._standing.due:
            self._commit("paused" if pausing else "running")
        if now - self._last_checkpoint >= max(CHECKPOINT_EVERY, self._checkpoint_cost / CHECKPOINT_SHARE):
            self._save()

    def _steps_at_once(self) -> int:
        """As many steps as fit in a turn, but not beyond the next thing that is scheduled."""
        if self._single:
            self._used = (self._used + 1) & 0xFFFFFFFF
            return 1
        self._used = self._control.granted
        fitting = int(TURN / self._seconds_per_step) if self._seconds_per_step else 1
        room = min(self._timetable.room(self.step), self._live_settings.room(self.step))
        return max(1, min(room, fitting, MOST_STEPS_AT_ONCE))

    def _begin(self) -> None:
        """Record the first step, the picture first: evaluating takes longer than a page should be empty."""
        self._keep()
        self._commit("running")
        for arm, group in enumerate(self._groups):
            self._recorder.evaluation(self.step, arm, group.evaluate(self._show_pause))

    def _arrive(self, step: int, losses: list[np.ndarray]) -> None:
        """Record all that belongs to `step`: a reader counts a step as complete once it sees a row of it."""
        self._standing.step = step
        evaluations: list[Metrics] = []
        if step in self._timetable.evaluated:
            evaluations = [group.evaluate(self._show_pause) for group in self._groups]
        for arm, values in enumerate(losses):
            self._recorder.losses(arm, step - len(values) + 1, values)
        self._events.turn(step, losses)
        self._divergence.turn(step, losses)
        for arm, found in enumerate(evaluations):
            self._recorder.evaluation(step, arm, found)
        if step in self._timetable.kept:
            self._keep()
        elif self._live:
            self._frames.turn(step, self._standing.seconds, self._pausing())

    def _keep(self) -> None:
        self._recorder.weights(self.step)
        snapshot = self._recorder.readings(self.step)
        self._frames.made(self.step)
        self._events.kept(snapshot)
        self._costly.offer(self.step, lambda: self._recorder.views)
        if self._on_snapshot is not None:
            self._on_snapshot(snapshot)

    def _wait_for_leave(self) -> bool:
        """Wait while paused; True once a single step is granted, False once the wish has changed."""
        if self._pausing():
            self._commit("paused")
            if self._saved != self.step:
                self._save()  # a worker that dies while paused is then paused at this step again
        told = time.monotonic()
        while self._wish == "pause":
            if self._control.granted != self._used:
                return True
            time.sleep(0.004)
            if self._costly.collect(self.step) | self._on_demand.turn():
                self._commit("paused")
            if time.monotonic() - told > 1.0:
                told = time.monotonic()
                self._standing.beat("paused")
        return False

    @property
    def _wish(self) -> str:
        return "stop" if self._interrupted else self._control.wish

    def _pausing(self) -> bool:
        """Whether the run is to wait now: a pause is wished for and every single step granted is made."""
        return self._wish == "pause" and self._control.granted == self._used

    def _show_pause(self) -> None:
        """Commit amid an evaluation that a pause is wished for: it takes longer than a click may."""
        if self._standing.state == "running" and self._pausing():
            self._commit("paused")

    def _end(self, state: str, reason: str) -> tuple[str, str]:
        if state == "done":
            self._events.finish(self.step, LAST_PATIENCE)
            self._divergence.finish()
        self._costly.finish(self.step, LAST_PATIENCE if state == "done" else 0.0)
        if self._saved != self.step:
            self._save()
        self._commit(state, reason)
        return state, reason

    def _save(self) -> None:
        """Write a checkpoint; the rows it builds on are committed first."""
        started = time.monotonic()
        arrays = {"clock": self._standing.clock, CHANGES: self._live_settings.state(), **self._costly.state()}
        arrays |= {**self._recorder.state(), **self._events.state(), **self._divergence.state()}
        self._standing.write(lambda: self._writer.checkpoint(self.step, arrays))
        self._saved = self.step
        self._last_checkpoint = time.monotonic()
        self._checkpoint_cost = self._last_checkpoint - started
