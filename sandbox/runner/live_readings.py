"""Live readings: what viewers see between the kept snapshots, read in a process beside the trainer."""

import gc
import logging
import mmap
import multiprocessing
import os
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from sandbox.diagnostics import read_all
from sandbox.engine.torch_engine import TorchGroup
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import encode
from sandbox.runner.recording import Recorder
from sandbox.runner.side_reading import let_go
from sandbox.store import RunWriter

EVERY = 0.2
"""Least seconds between two live readings; with what a turn takes, 4 a second."""

KEPT = 2400
"""Live readings at full rate; a longer run spaces them by its age over this, to bound its folder."""

TRAINER_SHARE = 0.04
"""Most of the trainer's own time that live readings may take."""

READER_SHARE = 1 / 3
"""Most of another core's time that they may take."""

MOST_DEATHS = 3
"""Reading processes that may die before the trainer reads by itself."""

log = logging.getLogger(__name__)


class LiveReadings:
    """Asks the cheap diagnostics about the present weights, a few times a second; changes nothing trained.

    A process forked from this one reads copies of the weights and hands the readings back, so that training
    gives up no more than recording them. Where there is none (weights on a GPU, no process to be
    had) the trainer reads by itself, as often as TRAINER_SHARE allows.
    """

    def __init__(
        self, recorder: Recorder, groups: Sequence[TorchGroup], writer: RunWriter, device: str
    ) -> None:
        self._recorder, self._groups, self._writer = recorder, groups, writer
        self._beside = device == "cpu" and n_cores() > 1
        self._reader: _Reader | None = None
        self._deaths = 0
        self._at = -1
        self._asked = 0.0
        self._cost = self._reader_cost = 0.0
        self.spent = 0.0
        """CPU seconds of the reading process so far."""

    def turn(self, step: int, seconds: float, now: bool = False) -> None:
        """Record what has been read, and ask about `step` if it is time; `seconds` is the run's age.

        `now` has `step` itself recorded before this returns: training is about to rest there.
        """
        self._collect()
        if now:
            self.read(step)
            return
        waited = time.monotonic() - self._asked
        if waited < max(EVERY, self._cost / TRAINER_SHARE, self._reader_cost / READER_SHARE, seconds / KEPT):
            return
        if not self._beside:
            self.read(step)
        elif self._reader is None or self._reader.idle:
            self._ask(step)

    def read(self, step: int) -> None:
        """Read `step` here and now, unless it has been."""
        if step == self._at:
            return
        started = time.monotonic()
        self._recorder.readings(step)
        self._cost = time.monotonic() - started
        self.made(step)

    def made(self, step: int) -> None:
        """`step` has been read: what is under way about an earlier one is of no use any more."""
        self._at = step
        self._asked = time.monotonic()

    def close(self) -> None:
        """End the reading process; the next reading starts another, with the settings of then."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _ask(self, step: int) -> None:
        started = time.monotonic()
        try:
            self._reader = self._reader or _Reader(self._recorder, self._groups)
        except (OSError, AssertionError) as fault:  # no process left, or this one may not have children
            log.warning("live readings are made by the trainer: %s", fault)
            self._beside = False
            return
        try:
            self._reader.ask(step, [group.theta() for group in self._groups])
        except OSError:  # it ended while it had nothing to do, which nobody has noticed until now
            self._bury()
        self._asked = time.monotonic()
        self._cost = self._asked - started

    def _collect(self) -> None:
        if self._reader is None:
            return
        try:
            found = self._reader.answer()
        except (EOFError, OSError):
            self._bury()
            return
        if found is None:
            return
        started = time.monotonic()
        step, readings, self._reader_cost = found
        self.spent += self._reader_cost
        if step > self._at:
            self._at = step
            for arm, kind, columns, meta in readings:
                self._writer.encoded_reading(step, arm, kind, columns, meta)
        self._cost += time.monotonic() - started

    def _bury(self) -> None:
        self._deaths += 1
        self._beside = self._deaths < MOST_DEATHS
        log.warning("the process of the live readings has ended")
        self.close()


def n_cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Reader:
    """The process that reads; weights go to it through memory that both share."""

    def __init__(self, recorder: Recorder, groups: Sequence[TorchGroup]) -> None:
        shapes = [group.theta().shape for group in groups]
        self._weights = [_shared(shape) for shape in shapes]
        context = multiprocessing.get_context("fork")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(
            target=_read_when_asked, args=(theirs, recorder, self._weights, os.getpid()), daemon=True
        )
        self.idle = True
        try:
            self._process.start()
        finally:
            theirs.close()

    def ask(self, step: int, weights: Sequence[np.ndarray]) -> None:
        """Have `weights`, one array (run, parameter) per arm, read as those after `step`."""
        for shared, values in zip(self._weights, weights, strict=True):
            shared[:] = values
        self._connection.send(step)
        self.idle = False

    def answer(self) -> tuple[int, list[Any], float] | None:
        """Step, readings (arm, kind, columns, meta) and CPU seconds once there are any; never waits.

        Raises EOFError where the process has ended.
        """
        if self.idle or not self._connection.poll():
            return None
        found: tuple[int, list[Any], float] = self._connection.recv()
        self.idle = True
        return found

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.join()
        self._connection.close()


def _shared(shape: tuple[int, ...]) -> np.ndarray:
    size = int(np.prod(shape))
    memory = mmap.mmap(-1, max(4 * size, 1))
    return np.frombuffer(memory, dtype=np.float32, count=size).reshape(shape)


def _read_when_asked(
    connection: Connection, recorder: Recorder, weights: Sequence[np.ndarray], parent: int
) -> None:
    """Entry point of the reading process; it ends with its parent."""
    let_go(connection, parent)
    gc.enable()
    while True:
        try:
            step = connection.recv()
        except EOFError:
            return
        began = time.process_time()
        readings = []
        for arm, theta in enumerate(weights):
            answers = read_all(recorder.look_back(arm, theta.copy(), step))
            # What means nothing here has said so at step 0; what stored weights cannot tell is not asked.
            readings += [
                (arm, kind, *encode(answer))
                for kind, answer in answers.items()
                if not isinstance(answer, NotApplicable)
            ]
        connection.send((step, readings, time.process_time() - began))
