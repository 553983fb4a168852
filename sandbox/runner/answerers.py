"""The supervisor's answerers: a process per run that is asked something untrained, and instant workers."""

import logging
import sqlite3
import time
from collections.abc import Container
from pathlib import Path

from sandbox.foundations.errors import RunUnavailable
from sandbox.runner.children import Children, Worker
from sandbox.runner.instant.workers import InstantWorkers

MOST = 2
"""Runs whose questions are answered at the same time."""

log = logging.getLogger(__name__)


class Answerers:
    """Starts an answerer for each row of `questions`, and removes the row once its process has ended.

    It looks after the instant workers too: both are asked for by pages and come and go beside the runs.
    """

    def __init__(self, runs: Path, children: Children, catalogue: sqlite3.Connection) -> None:
        self._runs, self._children, self._catalogue = runs, children, catalogue
        self._at_work: dict[str, tuple[Worker, float]] = {}
        self._instants = InstantWorkers(children, catalogue)

    def take_up(self, trained: Container[str]) -> None:
        """Start what waits; a run that is `trained` is answered by its worker, what that leaves later."""
        self._instants.take_up()
        for (run_id,) in self._catalogue.execute("SELECT run_id FROM questions").fetchall():
            if run_id not in trained and run_id not in self._at_work and len(self._at_work) < MOST:
                try:
                    self._at_work[run_id] = self._children.answerer(self._runs / run_id), time.time()
                except RunUnavailable as error:
                    log.error("%s", error)

    def bury(self) -> bool:
        """Let go of those that have ended; True if any has, so that what waited may begin."""
        ended = [run_id for run_id, (worker, _) in self._at_work.items() if not worker.process.is_alive()]
        for run_id in ended:
            worker, since = self._at_work.pop(run_id)
            worker.close()
            self._answered(run_id, since)
        return self._instants.bury() or bool(ended)

    def make_way(self, run_id: str) -> None:
        """A worker is about to write this run: end its answerer; the worker takes up the questions."""
        if run_id in self._at_work:
            self._at_work.pop(run_id)[0].abandon()

    def end(self) -> None:
        """End all; their questions stay for the next supervisor."""
        for run_id in list(self._at_work):
            self.make_way(run_id)
        self._instants.end()

    def _answered(self, run_id: str, until: float) -> None:
        """Forget what was asked of the run up to `until`; what was asked later waits for the next process."""
        with self._catalogue:
            self._catalogue.execute("DELETE FROM questions WHERE run_id = ? AND asked <= ?", (run_id, until))
