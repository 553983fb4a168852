"""The instant worker: one warm process that trains for every open Instant page, each in its turn."""

import logging
import os
import time
from typing import Any

from sandbox.foundations.errors import SandboxError
from sandbox.runner.instant.link import Link
from sandbox.runner.instant.session import Session

IDLE = 120.0
"""Seconds without an open page after which it ends."""
LISTEN = 0.25
MOST_THREADS = 16

log = logging.getLogger(__name__)


def cores() -> int:
    """How many threads may train: one for each core that this process may use."""
    return max(1, min(MOST_THREADS, len(os.sched_getaffinity(0))))


class InstantWorker:
    """Listens to the app and gives each session its turn."""

    def __init__(self, link: Link, threads: int) -> None:
        self.link, self.threads = link, threads
        self.sessions: dict[int, Session] = {}
        self._served = time.monotonic()

    def run(self) -> None:
        """Serve until the app goes, or until no page has been open for a while."""
        busy = False
        while self.link.open and (self.sessions or time.monotonic() - self._served < IDLE):
            self.hear(0.0 if busy else LISTEN)
            busy = False
            for session in list(self.sessions.values()):
                busy |= self._turn(session)
        self.link.close()

    def hear(self, patience: float = 0.0) -> None:
        """Take in what the pages have asked since."""
        for message in self.link.heard(patience):
            number = int(message["session"])
            if message.get("do") == "leave":
                self.sessions.pop(number, None)
                self._served = time.monotonic()
            else:
                if number not in self.sessions:
                    self.sessions[number] = Session(number, self.link.say, self.threads)
                self.sessions[number].hear(message)

    def _turn(self, session: Session) -> bool:
        try:
            return session.turn(self.hear)
        except SandboxError as error:
            return self._refused(session, str(error))
        except MemoryError:
            return self._refused(session, "There is not enough memory for this; choose smaller sizes.")
        except Exception as error:  # whatever it is, somebody waits for a sentence
            log.exception("an instant computation failed")
            return self._refused(session, f"This could not be trained: {type(error).__name__}: {error}"[:300])

    def _refused(self, session: Session, reason: str) -> bool:
        answer: dict[str, Any] = {"type": "refused", "id": session.latest, "reason": reason}
        self.link.say(session.number, answer)
        session.give_up()
        return True
