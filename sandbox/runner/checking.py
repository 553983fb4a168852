"""Checking: the supervisor's side of the process that answers questions about experiments."""

import json
import logging
import sqlite3
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from sandbox.foundations.errors import RunUnavailable
from sandbox.runner import pace
from sandbox.runner.catalogue_file import catalogue_path, write_catalogue
from sandbox.runner.children import Children
from sandbox.runner.queue import refusal

KEPT_CHECKS = 300.0
"""Seconds after which an answered question is forgotten."""

CHECKER_REST = 1.0
"""Least seconds between two starts of the checker: one that cannot start must not keep a core busy."""

QUIET = 4.0
"""Seconds without a question or a worker after which the machine's pace is measured, once."""

CATALOGUE, WARM_UP = 0, -1
"""Numbers of the questions that no page has asked."""

Write = Callable[[str, tuple[object, ...]], None]

log = logging.getLogger(__name__)


class Checking:
    """Hands questions from the queue's database to the checker, and its answers back."""

    def __init__(self, runs: Path, children: Children, catalogue: sqlite3.Connection, write: Write) -> None:
        self._runs, self._children, self._catalogue, self._write = runs, children, catalogue, write
        self._checker = children.checker()
        self._quiet_since = time.monotonic()
        self._measured = pace.fact(catalogue, pace.WARM_UP) is not None
        if not catalogue_path(runs).exists():
            self._checker.ask("catalogue", CATALOGUE, "")

    @property
    def sources(self) -> list[Connection | ForkServerProcess | int]:
        """What to wait on for news."""
        checker = self._checker
        return [checker.connection, checker.process.sentinel] if checker.alive() else []

    def take(self) -> None:
        """Ask what the pages have asked since."""
        for number, plain in self._catalogue.execute(
            "SELECT id, plain FROM checks WHERE answer IS NULL ORDER BY id"
        ).fetchall():
            self._quiet_since = time.monotonic()
            self._checker.ask("check", number, plain)

    def hear(self, busy: bool) -> None:
        """Write down what was answered, and see that somebody answers; `busy` while a run trains."""
        for number, answer in self._checker.answers():
            if number == CATALOGUE:
                if answer:
                    write_catalogue(self._runs, answer)
            elif number == WARM_UP:
                self._keep_pace(answer)
            else:
                self._write("UPDATE checks SET answer = ? WHERE id = ?", (answer, number))
                self._write("DELETE FROM checks WHERE asked < ?", (time.time() - KEPT_CHECKS,))
        for number, sentence in self._checker.overdue():
            self._refuse(number, sentence)
        if busy:
            self._quiet_since = time.monotonic()
        elif not self._measured and time.monotonic() - self._quiet_since > QUIET:
            self._measured = True
            self._checker.ask("warm-up", WARM_UP, "{}")
        if not self._checker.alive() and self._checker.age() > CHECKER_REST:
            self._succeed()

    def _keep_pace(self, answer: str) -> None:
        found = json.loads(answer)
        if isinstance(found, dict) and "lines" in found:
            self._write("INSERT OR REPLACE INTO facts VALUES (?, ?)", (pace.WARM_UP, answer))

    def _succeed(self) -> None:
        """Start another checker; what it died of is refused, the rest is asked again."""
        try:
            successor = self._children.checker()
        except RunUnavailable as error:
            log.error("%s", error)
            return
        lost, waiting = self._checker.left_behind()
        if lost is not None:
            sentence = "Checking this experiment ended the process that did it; make its sizes smaller."
            self._refuse(lost, sentence)
        self._checker.end()
        self._checker = successor
        for request in waiting:
            self._checker.ask(*request)

    def _refuse(self, number: int, sentence: str) -> None:
        self._write("UPDATE checks SET answer = ? WHERE id = ?", (json.dumps(refusal(sentence)), number))

    def end(self) -> None:
        """End the checker."""
        self._checker.end()
