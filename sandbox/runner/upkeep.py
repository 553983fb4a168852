"""Upkeep: a process that is started again whenever it ends, each time later while it ends soon."""

import logging
import signal
import subprocess
import time
from collections.abc import Callable

TOO_SOON = 5.0
"""Seconds; a process that ends earlier has ended too soon."""

FIRST_REST, LONGEST_REST = 0.5, 30.0
"""Seconds before the second start in a row that came too soon, doubled from then on, and at most."""

PATIENCE = 8.0
"""Seconds that a process has to end after it was asked to."""

log = logging.getLogger(__name__)


def rest_after(too_soon: int) -> float:
    """Seconds to wait before a start, after so many ends in a row that came too soon; first none."""
    return min(LONGEST_REST, FIRST_REST * 2.0 ** min(too_soon - 2, 20)) if too_soon > 1 else 0.0


class Kept:
    """A process that is started again when it ends; it is called `name` in the log.

    `hindered` says before every start but the first what stands in its way, in a clause, empty where nothing
    does.
    """

    def __init__(
        self,
        name: str,
        start: Callable[[], "subprocess.Popen[bytes]"],
        hindered: Callable[[], str] = lambda: "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.process: subprocess.Popen[bytes] | None = None
        self.ended_itself = 0
        """How often it has ended by itself, rather than by a signal."""
        self._start, self._hindered, self._clock = start, hindered, clock
        self._since = self._due = 0.0
        self._too_soon = 0
        self._resting = False

    def start(self) -> None:
        """Start it."""
        self._since = self._clock()
        self.process = self._start()
        self._resting = False

    def keep(self) -> None:
        """Start it again if it has ended and has rested; returns at once and says in the log what it does."""
        if self.process is not None and self.process.poll() is None:
            return
        if not self._resting:
            self._take_in_end()
        if self._clock() < self._due:
            return
        hindrance = self._hindered()
        try:
            if not hindrance:
                self.start()
        except OSError as error:
            hindrance = f"cannot be started ({error.strerror or error})"
        if hindrance:
            self._rest(hindrance)

    def _take_in_end(self) -> None:
        code = None if self.process is None else self.process.returncode
        self.ended_itself += code is not None and code >= 0
        if self._clock() - self._since >= TOO_SOON:
            self._too_soon = 0
        self._rest("is not there" if code is None else how_it_ended(code))

    def _rest(self, why: str) -> None:
        """Wait, longer than the last time."""
        self._too_soon += 1
        self._resting = True
        rest = rest_after(self._too_soon)
        self._due = self._clock() + rest
        when = f"in {rest:g} s" if rest else "at once"
        log.warning("The %s %s; it is started again %s.", self.name, why, when)

    def ask_to_end(self) -> None:
        """Close its input and ask it to end."""
        if self.process is None:
            return
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.terminate()

    def see_it_end(self, seconds: float = PATIENCE) -> None:
        """Wait until it has ended; what has not by then is killed."""
        if self.process is None:
            return
        try:
            self.process.wait(timeout=max(seconds, 0.0))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def end_all(*kept: Kept) -> None:
    """Ask all of them to end, in their order, and see that they do, together within PATIENCE."""
    for one in kept:
        one.ask_to_end()
    deadline = time.monotonic() + PATIENCE
    for one in kept:
        one.see_it_end(deadline - time.monotonic())


def how_it_ended(code: int) -> str:
    """An exit code in words: `was ended by SIGKILL`, `ended with exit code 1`."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
