"""The supervisor: the one process of a runs folder that starts workers and takes up what they drop."""

import json
import logging
import os
import select
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Iterable
from multiprocessing.connection import wait
from pathlib import Path

from sandbox.foundations.errors import RunUnavailable
from sandbox.runner import pace, watching
from sandbox.runner.answerers import Answerers
from sandbox.runner.catalogue_file import drop_other_catalogues
from sandbox.runner.checking import Checking
from sandbox.runner.children import Children, Worker
from sandbox.runner.lock import SupervisorLock
from sandbox.runner.queue import open_catalogue, waiting_order
from sandbox.runner.retry import RetryRule, death_words
from sandbox.runner.room import Ballast, keep_watching
from sandbox.runner.trash import keep_purging
from sandbox.store.folder import runs_root

POLL = 0.02
"""Seconds between two looks at the queue; a look costs microseconds while nothing was written."""

STALLED_AFTER = 10.0
"""Seconds without a sign of life after which a running worker counts as stalled."""

log = logging.getLogger(__name__)


class Supervisor:
    """Owns the queue of one runs folder while `run` runs. `at_once` workers train at the same time."""

    def __init__(self, runs: Path, children: Children, at_once: int = 2) -> None:
        self.runs = runs
        self._lock = SupervisorLock(runs)
        drop_other_catalogues(runs)
        self._children = children
        self._at_once = at_once
        self._catalogue = open_catalogue(runs)
        self._workers: dict[str, Worker] = {}
        self._checking: Checking | None = None
        self._answerers = Answerers(runs, children, self._catalogue)
        self._retry = RetryRule()
        self._making_way: dict[str, str] = {}
        """Runs asked to make way for others, with the state they were in."""
        self._looked = 0.0
        self._ballast, self._watched = Ballast(runs), watching.Watched(runs)
        self._version = -1
        self._dirty = True  # something may wait
        self._freed = False
        """Whether a run lost its worker, so that questions to it need another process."""
        self._ended = threading.Event()

    def end(self) -> None:
        """Ask `run` to return; workers then end by themselves and their runs stay taken."""
        self._ended.set()

    def run(self, lifeline: int | None = None) -> None:
        """Serve the queue until `end`, or until the descriptor `lifeline` is closed at its other end."""
        try:
            self._children.start(lambda: self._left_alone(lifeline))
            if self._ended.is_set():
                return
            self._requeue_interrupted()
            pace.keep_fact(self._catalogue, "workers", self._at_once)
            self._catalogue.commit()
            self._checking = Checking(self.runs, self._children, self._catalogue, self._write)
            while not self._ended.is_set():
                self._turn(lifeline)
        finally:
            for worker in self._workers.values():
                worker.abandon()
            self._answerers.end()
            if self._checking is not None:
                self._checking.end()
            self._catalogue.close()
            self._lock.release()

    def _turn(self, lifeline: int | None) -> None:
        """Wait a moment for news, then deal with all of it."""
        assert self._checking is not None
        sources: list[object] = [w.process.sentinel for w in self._workers.values()]
        sources += [w.connection for w in self._workers.values() if not w.silent]
        sources += self._checking.sources
        if lifeline is not None:
            sources.append(lifeline)
        news = wait(sources, timeout=POLL)  # type: ignore[arg-type]
        if lifeline in news and self._left_alone(lifeline):
            return
        for run_id, worker in list(self._workers.items()):
            self._listen(run_id, worker)
        self._checking.hear(busy=bool(self._workers))
        now = time.monotonic()  # the clock on the wall may jump
        for run_id, worker in self._workers.items():
            worker.memory.look()
            if worker.state == "running" and now - worker.heard > STALLED_AFTER:
                worker.state = "stalled"
                self._write("UPDATE runs SET state = 'stalled' WHERE id = ?", (run_id,))
        if self._catalogue_changed() | self._answerers.bury() | self._freed:
            self._freed = False
            self._checking.take()
            self._answerers.take_up(self._workers)
        if now - self._looked > 1.0:
            self._looked = now
            self._let_others_in()
            self._ballast.keep()
        self._start_waiting()

    def _let_others_in(self) -> None:
        """Where all trainers are taken, have what nobody watches make way; what is paused waits then."""
        states = {run_id: worker.state for run_id, worker in self._workers.items()}
        found = self._watched.who_makes_way(self._catalogue, states)
        full = len(self._workers) >= self._at_once
        if found is not None and full and not self._making_way.keys() & self._workers.keys():
            self._making_way[found] = states[found]
            watching.ask_to_make_way(self.runs / found)

    def _left_alone(self, lifeline: int | None) -> bool:
        """Whether it is time to end: somebody said so, or whoever started this has gone."""
        if lifeline is not None and _closed(lifeline):
            self._ended.set()
        return self._ended.is_set()

    def _catalogue_changed(self) -> bool:
        (version,) = self._catalogue.execute("PRAGMA data_version").fetchone()
        changed = version != self._version
        self._version = version
        self._dirty = changed or self._dirty
        return changed

    def _requeue_interrupted(self) -> None:
        """What an earlier supervisor had running goes back to the queue, before what waited behind it."""
        with self._catalogue:
            self._catalogue.execute(
                "UPDATE runs SET state = 'queued', pid = NULL, reason = 'taken up after an interruption' "
                "WHERE state IN ('running', 'paused', 'stalled')"
            )

    def _start_waiting(self) -> None:
        free = self._at_once - len(self._workers)
        if not self._dirty or free <= 0:
            return
        resting = self._retry.resting()
        self._dirty = bool(resting)
        order = [run_id for run_id in waiting_order(self._catalogue) if run_id not in resting]
        for run_id in order[:free]:
            plain, device, attempt = self._catalogue.execute(
                "SELECT plain, device, attempt FROM runs WHERE id = ?", (run_id,)
            ).fetchone()
            self._answerers.make_way(run_id)
            try:
                worker = self._children.worker(self.runs / run_id, plain, device)
            except RunUnavailable as error:
                log.error("%s", error)
                self._dirty = True
                return
            self._workers[run_id] = worker
            now = time.time()
            self._write(
                "UPDATE runs SET state = 'running', attempt = ?, pid = ?, heartbeat = ?, "
                "began = max(?, coalesce((SELECT max(began) FROM runs), 0) + 1e-5), "
                "started = coalesce(started, ?) WHERE id = ?",
                (attempt + 1, worker.process.pid, now, now, now, run_id),
            )

    def _listen(self, run_id: str, worker: Worker) -> None:
        """Take in what the worker has said, and notice when it has ended."""
        before = (worker.state, worker.step, worker.reason)
        heard = worker.take_messages()
        if worker.ended is not None:
            worker.process.join(timeout=5)
            self._finish(run_id, *worker.ended, worker.step)
        elif not worker.process.is_alive():
            worker.take_messages()
            if worker.ended is not None:
                self._finish(run_id, *worker.ended, worker.step)
            else:
                self._bury(run_id, worker)
        elif heard and (
            before != (worker.state, worker.step, worker.reason) or worker.heard - worker.written > 1.0
        ):
            worker.written = worker.heard
            self._write(
                "UPDATE runs SET state = ?, step = ?, heartbeat = ?, reason = coalesce(?, reason) "
                "WHERE id = ?",
                (worker.state, worker.step, time.time(), worker.reason, run_id),
            )

    def _bury(self, run_id: str, worker: Worker) -> None:
        """A worker died without a word: back into the queue, unless that has been of no use."""
        code = worker.process.exitcode
        log.warning(
            "worker %s of run %s died with exit code %s at step %s",
            worker.process.pid,
            run_id,
            code,
            worker.step,
        )
        ran_out = worker.memory.ran_out(code or 0)
        verdict = self._retry.after_death(
            run_id,
            worker.step,
            code or 0,
            stayed=worker.stayed(),
            paused=worker.state == "paused",
            out_of_memory=worker.memory.held if ran_out else None,
        )
        how = "for want of memory" if ran_out else f"with {death_words(code)}"
        if verdict is None:
            worker.close()
            del self._workers[run_id]
            self._write(
                "UPDATE runs SET state = 'queued', pid = NULL, reason = ? WHERE id = ?",
                (f"taken up again: the worker ended {how} at step {worker.step}", run_id),
            )
            self._dirty = True
        else:
            self._children.mark_failed(self.runs / run_id, worker.step, verdict)
            self._finish(run_id, "failed", verdict, worker.step)

    def _finish(self, run_id: str, state: str, reason: str, step: int) -> None:
        worker = self._workers.pop(run_id)
        worker.close()
        self._freed = True
        if worker.pace is not None:
            self._remember(run_id, worker.pace)
        was = self._making_way.pop(run_id, None)
        if was is not None and state == "stopped":
            if was != "paused":  # one that had stalled was to train, too
                state, reason = "queued", "made way for others, since nobody watched; goes on in its turn"
                watching.take_back(self.runs / run_id)
            else:
                reason = "was paused and unwatched while others waited; it goes on when you say so"
        self._retry.forget(run_id)
        self._write(
            "UPDATE runs SET state = ?, reason = ?, step = ?, finished = ?, pid = NULL WHERE id = ?",
            (state, reason, step, time.time(), run_id),
        )
        self._dirty = True

    def _remember(self, run_id: str, measured: tuple[float, float, int, float, float]) -> None:
        """Learn how long such a run takes here."""
        plain, device = self._catalogue.execute(
            "SELECT plain, device FROM runs WHERE id = ?", (run_id,)
        ).fetchone()
        try:
            with self._catalogue:
                pace.remember(self._catalogue, run_id, json.loads(plain), device, *measured)
        except sqlite3.Error as error:
            log.error("the pace of run %s could not be written: %s", run_id, error)

    def _write(self, statement: str, values: Iterable[object]) -> None:
        for _ in range(2):
            try:
                with self._catalogue:
                    self._catalogue.execute(statement, tuple(values))  # type: ignore[arg-type]
                return
            except sqlite3.Error as error:
                log.error("the queue could not be written: %s", error)
                if not self._ballast.drop():  # on a full disk it is kept for just this
                    return


def _closed(descriptor: int) -> bool:
    """Whether a readable pipe has come to its end."""
    readable, _, _ = select.select([descriptor], [], [], 0)
    return bool(readable) and os.read(descriptor, 4096) == b""


def main() -> int:
    """Serve the queue of SANDBOX_RUNS until standard input closes or a signal comes; 2 if it is taken."""
    logging.basicConfig(level=logging.INFO, format="supervisor: %(message)s", stream=sys.stderr)
    try:
        at_once = max(1, int(os.environ.get("SANDBOX_WORKERS", "2")))
        supervisor = Supervisor(runs_root(), Children(), at_once)
    except ValueError:
        sys.stderr.write("SANDBOX_WORKERS must be a whole number: how many runs train at once.\n")
        return 2
    except RunUnavailable as error:
        sys.stderr.write(f"{error}\n")
        return 2
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: supervisor.end())
    keep_purging(runs_root())
    keep_watching(runs_root())
    supervisor.run(lifeline=sys.stdin.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
