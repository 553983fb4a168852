"""The supervisor's child processes: forked from one server that has torch loaded, each on its own pipe."""

import logging
import multiprocessing
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from sandbox.foundations.errors import RunUnavailable
from sandbox.runner.answerer import answer_run
from sandbox.runner.checker import answer_checks
from sandbox.runner.instant.entry import serve_instant
from sandbox.runner.limits import default_memory
from sandbox.runner.memory import MemoryWatch
from sandbox.runner.worker import report_preload, work
from sandbox.store import RunWriter, open_run
from sandbox.store.folder import read_experiment

PRELOAD = "sandbox.runner.preload"
CHECK_LIMIT = 20.0
"""Seconds that one question may take before it is answered with a refusal."""

FORK_TRIES, FORK_REST = 3, 0.1
"""How often a process is tried to be started, and seconds between: a server that is ending is none soon."""

log = logging.getLogger(__name__)


class Worker:
    """A running worker as the supervisor sees it."""

    def __init__(self, process: ForkServerProcess, connection: Connection, memory: int = 0) -> None:
        self.process = process
        self.connection = connection
        self.memory = MemoryWatch(process.pid or 0, memory)
        self.pace: tuple[float, float, int, float, float] | None = None
        """Operations per step, seconds, steps, torch's share and seconds of updates, once told."""
        self.reason: str | None = None
        """Why it is in its state, empty where that is over; None while it has never said so."""
        self.state = "running"
        self.step = 0
        self.arrived = time.monotonic()
        self.heard = time.monotonic()
        self.written = 0.0
        self.silent = False
        self.ended: tuple[str, str] | None = None

    def take_messages(self) -> bool:
        """Read all that has arrived; True if there was anything."""
        heard, before = False, self.step
        try:
            while not self.silent and self.connection.poll():
                message = self.connection.recv()
                heard = True
                self.heard = time.monotonic()
                if message[0] == "beat":
                    _, self.state, self.step, *why = message
                    self.reason = why[0] if why else self.reason and ""
                elif message[0] == "pace":
                    self.pace = message[1:]
                else:
                    _, state, self.step, reason = message
                    self.ended = (state, reason)
        except (EOFError, OSError):
            self.silent = True
        if self.step != before:
            self.arrived = time.monotonic()
        return heard

    def stayed(self) -> float:
        """Seconds for which it has been at its step."""
        return time.monotonic() - self.arrived

    def abandon(self) -> None:
        """Close the pipe, which ends the worker, and see that it has ended."""
        self.connection.close()
        self.process.join(timeout=2)
        if self.process.is_alive():
            self.process.kill()
            self.process.join(timeout=2)

    def close(self) -> None:
        """Let go of a worker that has ended."""
        self.connection.close()
        self.process.join(timeout=2)


class Checker:
    """The process that answers questions, one at a time and in order."""

    def __init__(self, process: ForkServerProcess, connection: Connection, lifeline: Connection) -> None:
        self.process = process
        self.connection = connection
        self._lifeline = lifeline
        self._asked: dict[int, tuple[str, int, str]] = {}
        self._since = self._born = time.monotonic()
        self._dead = False
        self._timed_out = False

    def ask(self, question: str, number: int, text: str) -> None:
        """Send a question, unless this one waits already."""
        if number in self._asked:
            return
        if not self._asked:
            self._since = time.monotonic()
        self._asked[number] = (question, number, text)
        try:
            self.connection.send((question, number, text))
        except OSError:
            self._dead = True

    def answers(self) -> Iterator[tuple[int, str]]:
        """The answers that have come in, each with its number."""
        try:
            while not self._dead and self.connection.poll():
                number, answer = self.connection.recv()
                self._asked.pop(number, None)
                self._since = time.monotonic()
                yield number, answer
        except (EOFError, OSError):
            self._dead = True

    def overdue(self) -> Iterator[tuple[int, str]]:
        """The question that has taken too long, after which the process is ended."""
        if self._asked and time.monotonic() - self._since > CHECK_LIMIT:
            number = next(iter(self._asked))
            del self._asked[number]
            self._dead = self._timed_out = True
            self.process.kill()
            if number:
                yield (
                    number,
                    f"Checking this experiment took more than {CHECK_LIMIT:g} s; make its sizes smaller.",
                )

    def alive(self) -> bool:
        """Whether it can still answer."""
        return not self._dead and self.process.is_alive()

    def age(self) -> float:
        """Seconds since it was started."""
        return time.monotonic() - self._born

    def left_behind(self) -> tuple[int | None, list[tuple[str, int, str]]]:
        """The question it died of, if it did, and those that have to be asked again of the next one."""
        waiting = list(self._asked.values())
        if self._timed_out or not waiting or waiting[0][0] != "check":
            return None, waiting
        return waiting[0][1], waiting[1:]

    def end(self) -> None:
        """Close its pipes and see that it ends."""
        self.connection.close()
        self._lifeline.close()
        self.process.join(timeout=2)
        if self.process.is_alive():
            self.process.kill()


class Children:
    """Starts the child processes. `job` is what a worker does; another one than training is for tests."""

    def __init__(
        self,
        job: Callable[[Connection, str, str, str, int], None] = work,
        questions: Callable[[Connection, Connection], None] = answer_checks,
        preload: str = PRELOAD,
        memory: int | None = None,
    ) -> None:
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([preload] if preload else [])
        self._job = job
        self._questions = questions
        self._preload = preload
        self._memory = default_memory() if memory is None else memory

    def start(self, given_up: Callable[[], bool] = lambda: False) -> bool:
        """Start the fork server; whether it loaded what it should, for it would not say if it had not.

        Loading takes seconds; `given_up` is asked meanwhile whether anybody still waits for it.
        """
        if not self._preload:
            return True
        ours, theirs = self._context.Pipe()
        process = self._fork(target=report_preload, args=(theirs,), daemon=True)
        theirs.close()
        while not ours.poll(0.05):
            if given_up():
                return False
        try:
            loaded = ours.recv()
        except (EOFError, OSError):  # the fork server was ended meanwhile; the next start begins another
            loaded = None
        process.join()
        ours.close()
        if loaded != (True, True):
            log.error("the fork server did not load %s; every run will start seconds later", self._preload)
        return bool(loaded == (True, True))

    def worker(self, folder: Path, plain: str, device: str) -> Worker:
        """A worker for the run in `folder`; RunUnavailable where no process can be started."""
        ours, theirs = self._context.Pipe()
        arguments = (theirs, str(folder), plain, device, self._memory)
        process = self._fork(target=self._job, args=arguments, name=folder.name, daemon=False)
        theirs.close()
        return Worker(process, ours, self._memory if device == "cpu" else 0)

    def answerer(self, folder: Path) -> Worker:
        """A process that answers the open questions of the run in `folder`, then ends."""
        ours, theirs = self._context.Pipe()
        process = self._fork(target=answer_run, args=(theirs, str(folder)), name=folder.name, daemon=False)
        theirs.close()
        return Worker(process, ours)

    def instant(self, address: str, secret: str) -> Worker:
        """An instant worker for the app that waits at `address`."""
        ours, theirs = self._context.Pipe()
        told = theirs, address, secret
        process = self._fork(target=serve_instant, args=told, name="instant", daemon=True)
        theirs.close()
        return Worker(process, ours)

    def checker(self) -> Checker:
        """A process that answers questions; RunUnavailable where none can be started."""
        ours, theirs = self._context.Pipe()
        lifeline, end = self._context.Pipe()
        process = self._fork(target=self._questions, args=(theirs, end), name="checker", daemon=True)
        theirs.close()
        end.close()
        return Checker(process, ours, lifeline)

    def _fork(self, **how: Any) -> ForkServerProcess:
        """A started process. Where the fork server was ended, the next try starts another one."""
        for _ in range(FORK_TRIES):
            process = self._context.Process(**how)
            try:
                process.start()
            except (EOFError, OSError) as error:
                log.warning("the fork server did not answer (%r); it is started again", error)
                time.sleep(FORK_REST)
            else:
                return process
        raise RunUnavailable("No process can be started for a run; look for what ends the fork server.")

    def mark_failed(self, folder: Path, step: int, reason: str) -> None:
        """Write into the run itself that it failed, so that whoever opens the folder sees it."""
        try:
            with RunWriter.open(folder, read_experiment(folder)) as writer:
                writer.status("failed", step, open_run(folder).status["seconds"], reason)
        except RunUnavailable as error:
            log.warning("the run could not be marked as failed: %s", error)
