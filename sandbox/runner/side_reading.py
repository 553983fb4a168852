"""A costly reading in a process of its own: training goes on, no pause waits for it, cancelling ends it."""

import ctypes
import gc
import logging
import math
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from sandbox.diagnostics import Diagnostic, SnapshotView
from sandbox.diagnostics.piecewise import ReadTogether
from sandbox.foundations.errors import RunUnavailable, SandboxError
from sandbox.foundations.readings import Answer, decode, encode

NICER = 5
"""Added to the niceness of the trainer: a reading uses what training leaves."""

PIECE, ANSWERS, TOO_DEAR, REFUSED = "piece", "answers", "too dear", "refused"

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of a reading; `answers` is empty where it was left or its process died."""

    answers: list[dict[str, Answer]]
    """By view, the answers by kind."""
    seconds: float
    """CPU seconds that were spent."""
    cost: float
    """CPU seconds that all of it takes: `seconds`, or an estimate where it was left; infinite without one."""
    reason: str = ""
    """Why the views could not be made."""


class SideReading:
    """One reading of `kinds` on `views()` under way, forked from this process; `n_pieces` seeds in all.

    The child has by the fork what `views` needs: nothing is sent to it, and nothing it does reaches training.
    It is left after the piece that shows it to cost more than `most` CPU seconds (the first one also works
    out what all share), at the latest once it has spent them. On a machine with a GPU in use, torch forbids
    gradients in a forked process; what needs them answers so.

    Raises RunUnavailable where no process can be started.
    """

    def __init__(
        self,
        kinds: Mapping[str, Diagnostic],
        views: Callable[[], Sequence[SnapshotView]],
        n_pieces: int,
        most: float = math.inf,
    ) -> None:
        context = multiprocessing.get_context("fork")
        self._connection, theirs = context.Pipe(duplex=False)
        self.progress = 0, n_pieces
        """Pieces done, and all."""
        self._seconds, self._most = 0.0, most
        self._process = context.Process(
            target=_read, args=(theirs, kinds, views, most, os.getpid()), daemon=True
        )
        try:
            self._process.start()
        except (OSError, AssertionError) as fault:  # no process left, or this one may not have children
            self._connection.close()
            raise RunUnavailable(
                f"No process can be started for a diagnostic ({fault}); try again."
            ) from fault
        finally:
            theirs.close()

    def outcome(self) -> Outcome | None:
        """What came of it, once there is anything; never waits. Take it once."""
        while self._connection.poll():
            try:
                message = self._connection.recv()
            except (EOFError, OSError):
                self._process.join()
                code = self._process.exitcode
                self.cancel()
                if code == -signal.SIGPROF:
                    return Outcome(answers=[], seconds=self._most, cost=math.inf)
                log.warning("a reading ended with exit code %s", code)
                return Outcome(answers=[], seconds=self._seconds, cost=self._seconds)
            if message[0] == PIECE:
                _, done, of, self._seconds = message
                self.progress = done, of
                continue
            self.cancel()
            if message[0] == REFUSED:
                return Outcome(answers=[], seconds=0.0, cost=0.0, reason=message[1])
            if message[0] == TOO_DEAR:
                return Outcome(answers=[], seconds=message[1], cost=message[2])
            answers = [{kind: decode(*taken) for kind, taken in view.items()} for view in message[1]]
            return Outcome(answers=answers, seconds=message[2], cost=message[2])
        return None

    def spent(self) -> float:
        """CPU seconds that its process has told of so far."""
        return self._seconds

    def wait(self, seconds: float) -> None:
        """Give it up to `seconds` to say something more."""
        self._connection.poll(seconds)

    def cancel(self) -> None:
        """End it, whether it is done or not."""
        self._process.kill()
        self._process.join()
        self._connection.close()


def _read(
    connection: Connection,
    kinds: Mapping[str, Diagnostic],
    views: Callable[[], Sequence[SnapshotView]],
    most: float,
    parent: int,
) -> None:
    """Entry point of the child: read piece by piece and tell; the last message holds the answers."""
    let_go(connection, parent)
    began = time.process_time()
    if math.isfinite(most):
        signal.setitimer(signal.ITIMER_PROF, max(most, 1e-3))  # its signal ends the process
    try:
        reading = ReadTogether(kinds, views())
    except SandboxError as fault:
        connection.send((REFUSED, str(fault)))
        return
    spent = first = 0.0
    for done, of in reading:
        spent = time.process_time() - began
        connection.send((PIECE, done, of, spent))
        first = first or spent  # which has in it what is worked out once
        whole = first + (spent - first) / (done - 1) * (of - 1) if done > 1 else first
        if done < of and whole > most:
            connection.send((TOO_DEAR, spent, whole))
            return
    taken: list[dict[str, Any]] = [
        {kind: encode(answer) for kind, answer in answers.items()} for answers in reading.answers
    ]
    connection.send((ANSWERS, taken, spent))


def let_go(connection: Connection, parent: int) -> None:
    """Drop what belongs to the trainer: its files, its lock on the run, its signals; and never outlive it."""
    kept = connection.fileno()
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))
    gc.disable()  # objects of the trainer, such as its database, must not be tidied up here,
    gc.freeze()  # not even where the collector is used again for what comes later
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else signal.SIG_DFL)
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
    os.nice(NICER)
