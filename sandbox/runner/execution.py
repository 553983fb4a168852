"""Execution: trains all arms of an experiment in lock step into a run folder, and obeys the run's control."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from sandbox.engine.device import one_thread
from sandbox.engine.evaluation import Metrics
from sandbox.experiment.experiment import Experiment
from sandbox.experiment.schedule import evaluation_steps, next_step, snapshot_budget, snapshot_steps
from sandbox.foundations.errors import SandboxError
from sandbox.runner.control import RunControl
from sandbox.runner.costly_readings import CostlyReadings
from sandbox.runner.engines import build_groups
from sandbox.runner.live_readings import LiveReadings
from sandbox.runner.live_settings import LiveSettings
from sandbox.runner.on_demand import OnDemand
from sandbox.runner.recording import Recorder, Snapshot
from sandbox.runner.training_events import TrainingEvents
from sandbox.store import RunWriter

TURN = 0.012
"""Seconds of training between two looks at the control."""

COMMIT_EVERY = 0.15
CHECKPOINT_EVERY = 2.0
CHECKPOINT_SHARE = 0.04
"""Most of a run's time that checkpoints may take."""

MOST_STEPS_AT_ONCE = 1000
LAST_PATIENCE = 0.5
"""Seconds that a finished run waits for a costly reading under way."""

CHANGES = "live/changes"


class Execution:
    """One execution of `experiment` into `folder`, from its latest checkpoint where there is one.

    `live` adds readings between the scheduled snapshots, for viewers; they change nothing that is
    trained or scheduled. Raises RunUnavailable where the folder is written by another process or
    holds another experiment, DeviceUnavailable or EngineUnavailable for what this machine lacks.
    """

    def __init__(
        self,
        experiment: Experiment,
        folder: str | Path,
        device: str = "cpu",
        *,
        live: bool = False,
        engine: str = "auto",
        on_snapshot: Callable[[Snapshot], None] | None = None,
        on_beat: Callable[[str, int], None] | None = None,
    ) -> None:
        self.experiment = experiment
        self.device = device
        self._engine = engine
        self.step = 0
        self.seconds = 0.0
        """Seconds spent training, evaluating and reading, pauses apart."""
        self._live = live
        self._on_snapshot = on_snapshot
        self._on_beat = on_beat
        self._interrupted = False
        self._writer = RunWriter.open(folder, experiment.to_plain())
        self._control = RunControl(folder, create=True)
        self._folder = folder
        self._used = self._control.granted
        self._arm_seconds = np.zeros(len(experiment.arms))
        self._checkpoint_cost = 0.0
        self._seconds_per_step = 0.0
        self._last_commit = self._last_checkpoint = 0.0
        self._saved, self._state = -1, "queued"
        self._costly = CostlyReadings(self._writer, experiment.steps)
        self._on_demand = OnDemand(folder, self._writer)
        self._opened = ExitStack()
        for opened in (self._writer, self._control, self._on_demand, self._costly):
            self._opened.callback(opened.close)

    def interrupt(self) -> None:
        """Ask `run` to write a checkpoint and return after the present step; safe in a signal handler."""
        self._interrupted = True

    def run(self) -> tuple[str, str]:
        """Train to the step limit or until told to stop; returns `done` or `stopped`, and the reason.

        A deliberate error is recorded as the reason for `failed`, then raised.
        """
        try:
            found = self._writer.latest_checkpoint()
            if found is not None:
                self.step, (self.seconds, *arm_seconds) = found[0], found[1]["clock"].tolist()
                self._arm_seconds = np.array(arm_seconds)
            self._commit("running")
            self._prepare(found)
            return self._train()
        except SandboxError as error:
            self._report("failed", str(error))
            raise
        except Exception as error:
            reason = f"The trainer met an error of its own: {type(error).__name__}: {str(error)[:300]}"
            self._report("failed", reason)
            raise
        finally:
            self._opened.close()

    def _prepare(self, found: tuple[int, dict[str, np.ndarray]] | None) -> None:
        """Build the groups and take up the checkpoint `found`, or record step 0."""
        one_thread()
        experiment = self.experiment
        self._live_settings = LiveSettings(
            experiment, self._folder, None if found is None else found[1].get(CHANGES)
        )
        arms, at = self._live_settings.arms, None if found is None else found[0]
        self._groups = build_groups(self._writer, arms, self.device, self._engine, at)
        self._recorder = Recorder(experiment, self._groups, self._writer)
        self._recorder.describe(self.device)
        self._frames = LiveReadings(self._recorder, self._groups, self._writer, self.device)
        self._opened.callback(self._frames.close)
        self._events = TrainingEvents(self._groups, self._writer, self._recorder, self._costly)
        row = sum(group.layout.size for group in self._groups) * len(experiment.seeds) * 4
        self._snapshots = snapshot_steps(experiment.steps, snapshot_budget(experiment.steps, row))
        self._evaluations = evaluation_steps(experiment.steps, experiment.pace.evaluate_every)
        self._evaluated, self._kept = frozenset(self._evaluations), frozenset(self._snapshots)
        if found is not None:
            self._saved, arrays = found
            self._recorder.load(arrays)
            self._costly.load(arrays)
            self._events.load(arrays, self.step)
        else:
            self._begin()
        self._costly.tell(self.step)
        self._commit("running")
        self._last_checkpoint = time.monotonic()

    def _train(self) -> tuple[str, str]:
        while self.step < self.experiment.steps:
            if self._wish == "stop":
                return self._end("stopped", f"stopped at step {self.step} of {self.experiment.steps}")
            if self._wish == "pause" and not self._wait_for_leave():
                continue
            self._change()
            self._turn()
        return self._end("done", f"the step limit of {self.experiment.steps} is reached")

    def _change(self) -> None:
        """Act on what was asked of live knobs; the checkpoint that follows keeps what came of it."""

        def tell(kind: str, detail: str, arm: str | None) -> None:
            self._writer.event(self.step, kind, detail, arm)

        if self._live_settings.act(self.step, self._groups, tell):
            self._frames.close()  # its process has the settings of before
            self._writer.describe(changes=[change.to_plain() for change in self._live_settings.changes])
            self._save()

    def _turn(self) -> None:
        """A few steps of every arm, then whatever is due after them."""
        began = time.perf_counter()
        n = self._steps_at_once()
        losses = []
        cpu = time.process_time()
        for arm, group in enumerate(self._groups):
            started = time.perf_counter()
            losses.append(group.advance(n))
            self._arm_seconds[arm] += time.perf_counter() - started
        self._costly.trained(time.process_time() - cpu, n)
        per_step = (time.perf_counter() - began) / n
        # Down at once, up slowly: a turn that is too long is felt, one that is too short is not.
        self._seconds_per_step = max(per_step, 0.8 * self._seconds_per_step)
        self._arrive(self.step + n, losses)
        self._costly.collect(self.step)
        self._on_demand.turn()
        self.seconds += time.perf_counter() - began
        now = time.monotonic()
        pausing = self._pausing()
        if pausing or now - self._last_commit >= COMMIT_EVERY:
            self._commit("paused" if pausing else "running")
        if now - self._last_checkpoint >= max(CHECKPOINT_EVERY, self._checkpoint_cost / CHECKPOINT_SHARE):
            self._save()

    def _steps_at_once(self) -> int:
        """As many steps as fit in a turn, but not beyond the next thing that is scheduled."""
        if self._wish == "pause":
            self._used = (self._used + 1) & 0xFFFFFFFF
            return 1
        self._used = self._control.granted
        limits = [next_step(schedule, self.step) for schedule in (self._evaluations, self._snapshots)]
        room = min(limit for limit in limits if limit is not None) - self.step
        fitting = int(TURN / self._seconds_per_step) if self._seconds_per_step else 1
        return max(1, min(room, fitting, MOST_STEPS_AT_ONCE))

    def _begin(self) -> None:
        """Record step 0, the picture first: evaluating takes longer than a page should be empty."""
        self._keep()
        self._commit("running")
        for arm, group in enumerate(self._groups):
            self._recorder.evaluation(0, arm, group.evaluate(self._show_pause))

    def _arrive(self, step: int, losses: list[np.ndarray]) -> None:
        """Record all that belongs to `step`: a reader counts a step as complete once it sees a row of it."""
        self.step = step
        evaluations: list[Metrics] = []
        if step in self._evaluated:
            evaluations = [group.evaluate(self._show_pause) for group in self._groups]
        for arm, values in enumerate(losses):
            self._recorder.losses(arm, step - len(values) + 1, values)
        self._events.turn(step, losses)
        for arm, found in enumerate(evaluations):
            self._recorder.evaluation(step, arm, found)
        if step in self._kept:
            self._keep()
        elif self._live:
            self._frames.turn(step, self.seconds, self._pausing())

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
                self._beat("paused")
        return False

    @property
    def _wish(self) -> str:
        return "stop" if self._interrupted else self._control.wish

    def _pausing(self) -> bool:
        """Whether the run is to wait now: a pause is wished for and every single step granted is made."""
        return self._wish == "pause" and self._control.granted == self._used

    def _show_pause(self) -> None:
        """Commit amid an evaluation that a pause is wished for: it takes longer than a click may."""
        if self._state == "running" and self._pausing():
            self._commit("paused")

    def _end(self, state: str, reason: str) -> tuple[str, str]:
        self._costly.finish(self.step, LAST_PATIENCE if state == "done" else 0.0)
        if self._saved != self.step:
            self._save()
        self._commit(state, reason)
        return state, reason

    def _commit(self, state: str, reason: str = "") -> None:
        self._report(state, reason)
        self._writer.commit()
        self._last_commit = time.monotonic()
        self._beat(state)

    def _report(self, state: str, reason: str = "") -> None:
        self._state = state
        arm_seconds = dict(zip(self._writer.arms, self._arm_seconds.tolist(), strict=True))
        self._writer.status(state, self.step, self.seconds, reason, arm_seconds=arm_seconds)

    def _beat(self, state: str) -> None:
        if self._on_beat is not None and state in ("running", "paused"):
            self._on_beat(state, self.step)

    def _save(self) -> None:
        """Write a checkpoint; the rows it builds on are committed first."""
        started = time.monotonic()
        clock = np.array([self.seconds, *self._arm_seconds])
        arrays = {"clock": clock, CHANGES: self._live_settings.state(), **self._costly.state()}
        self._writer.checkpoint(self.step, {**self._recorder.state(), **self._events.state(), **arrays})
        self._saved = self.step
        self._last_checkpoint = time.monotonic()
        self._checkpoint_cost = self._last_checkpoint - started
