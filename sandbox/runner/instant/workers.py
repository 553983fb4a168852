"""The supervisor's instant workers: one for each server of pages that asks, a few at most."""

import logging
import sqlite3
import time

from sandbox.foundations.errors import RunUnavailable
from sandbox.runner.children import Children, Worker

MOST_WORKERS = 2
"""Instant workers of one runs folder: one for each server of pages."""
FRESH = 20.0
"""Seconds after which nobody waits at a socket any more."""

log = logging.getLogger(__name__)


class InstantWorkers:
    """Starts a process for each row of `instants`, and lets go of those that have ended."""

    def __init__(self, children: Children, catalogue: sqlite3.Connection) -> None:
        self._children, self._catalogue = children, catalogue
        self._at_work: list[Worker] = []

    def take_up(self) -> None:
        """Start what was asked for a moment ago; what waits too long is forgotten."""
        asked = self._catalogue.execute("SELECT address, secret, asked FROM instants").fetchall()
        for address, secret, since in asked:
            stale = not 0 <= time.time() - since < FRESH
            if not stale and len(self._at_work) >= MOST_WORKERS:
                continue
            with self._catalogue:
                self._catalogue.execute("DELETE FROM instants WHERE address = ?", (address,))
            if not stale:
                try:
                    self._at_work.append(self._children.instant(address, secret))
                except RunUnavailable as error:
                    log.error("%s", error)

    def bury(self) -> bool:
        """Let go of those that have ended; True if any has."""
        ended = [worker for worker in self._at_work if not worker.process.is_alive()]
        for worker in ended:
            self._at_work.remove(worker)
            worker.close()
        return bool(ended)

    def end(self) -> None:
        """End all; the app asks for another one."""
        while self._at_work:
            self._at_work.pop().abandon()
