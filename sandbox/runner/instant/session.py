"""One open Instant page as the worker sees it: what it wants now, and the one computation it has."""

import time
from collections.abc import Callable
from typing import Any

from sandbox.runner.instant.curves import Curves, Teams
from sandbox.runner.instant.histogram import Histogram
from sandbox.runner.instant.knobs import EPOCHS, FIRST_EPOCHS, check_knobs

PATIENCE = 0.45
"""Seconds for which the first epochs of an older value go on, so that whole pictures come twice a second
while a knob moves without rest; after the first epochs an older value is given up at once."""
NEARLY = 2.0
"""Where they are expected within so many times that, they are not given up so near their end."""
HOLD = 0.25
"""Seconds after which a computation is told before its first epochs are done."""
PACE = 0.1
"""Seconds between two tellings of one computation, or of another seed's pictures."""
ACK_PATIENCE = 3.0
"""Seconds after which a page that does not say it has drawn is told more anyway."""

Say = Callable[..., None]
"""Sends to a session: its number, JSON, and the numbers behind it if there are some."""


def gives_way(seconds: float, epochs: int) -> bool:
    """Whether first epochs, so many of them done after `seconds`, are given up for a newer value."""
    return seconds > PATIENCE and seconds * FIRST_EPOCHS / max(epochs, 1) > NEARLY * PATIENCE


class Session:
    """What one page asked for; one computation at a time, always of the newest wish."""

    def __init__(self, number: int, say: Say, threads: int) -> None:
        self.number, self._say, self.threads = number, say, threads
        self.latest = 0
        """The newest request's number."""
        self.computed = 0
        self.given_up = 0
        self._teams = Teams(threads)
        self._wanted: dict[str, Any] | None = None
        self._curves: Curves | None = None
        self._many: Histogram | None = None
        """While it is there, the curves wait."""
        self._seed = 0
        self._other_seed = False
        """Whether pictures of a seed that was chosen since have still to be told."""
        self._rows = self._frames = 0
        self._told = self._told_many = 0.0
        self._acked = True
        self._known: object = None  # what the page has been told of the weights' shapes and the probe

    # ------------------------------------------------------------ what the page says
    def hear(self, message: dict[str, Any]) -> None:
        """Take in one message of the page."""
        what = message.get("do")
        if what == "ack":
            self._acked = True
        elif what == "seed":
            self._choose(int(message["seed"]))
        elif what == "cancel":
            self._cancel()
        elif what in ("train", "histogram"):
            self.latest = int(message["id"])
            self.given_up += self._wanted is not None
            self._wanted = message

    # ------------------------------------------------------------ one turn
    def turn(self, hear: Callable[[], None]) -> bool:
        """Work for a few milliseconds, calling `hear` between; False where there was nothing to do."""
        if self._wanted is not None and self._free(self._wanted):
            self._begin(self._wanted)
            hear()
        if self._other_seed and self._curves is not None and self._may_tell():
            self._tell(self._curves)
        if self._many is not None:
            self._turn_of_many(self._many)
        elif self._curves is not None and not self._curves.done:
            self._curves.turn()
            self._after_turn(self._curves)
        else:
            return self._wanted is not None
        return True

    def give_up(self) -> None:
        """Let go of whatever was wanted or being computed."""
        self._wanted = self._curves = self._many = None

    def _free(self, wanted: dict[str, Any]) -> bool:
        """Whether a newer wish may begin now."""
        job = self._curves
        if job is None or job.first_seconds is not None or wanted["do"] == "histogram":
            return True
        return gives_way(job.age, job.epoch)

    def _begin(self, wanted: dict[str, Any]) -> None:
        self._wanted = None
        self._cancel()
        number, knobs = int(wanted["id"]), check_knobs(wanted.get("knobs"))
        if wanted["do"] == "histogram":
            self._many = Histogram(number, knobs, self.threads)
            self._tell_histogram(self._many)
            return
        if self._curves is not None and self._curves.first_seconds is None:
            self.given_up += 1
            self._tell(self._curves)  # as far as it has come
        self._curves = None  # its team may be the next one's
        self._seed = int(wanted.get("seed", self._seed))
        self._rows = self._frames = 0
        self._other_seed = False
        self._told = time.monotonic()
        self._curves = Curves(number, knobs, self._teams)

    def _choose(self, seed: int) -> None:
        """Pictures are of `seed` from now on; the newest choice is told when the page can take it."""
        if self._wanted is not None and self._wanted["do"] == "train":
            self._wanted["seed"] = seed
        self._seed, self._frames = seed, 0
        self._other_seed = self._rows > 0

    def _cancel(self) -> None:
        if self._many is not None:
            self._say(self.number, self._many.told() | {"cancelled": True})
            self._many = None

    # ------------------------------------------------------------ what the page is told
    def _turn_of_many(self, job: Histogram) -> None:
        if job.turn() or time.monotonic() - self._told_many > PACE:
            self._tell_histogram(job)
        if job.done:
            self._many = None

    def _after_turn(self, job: Curves) -> None:
        first = job.epoch == FIRST_EPOCHS
        self.computed += first
        grows = job.age > HOLD or self._rows > 0
        if first or job.epoch == EPOCHS or (grows and self._may_tell()):
            self._tell(job)

    def _may_tell(self) -> bool:
        """Whether the page has drawn what it was told last, or has had long enough for it."""
        since = time.monotonic() - self._told
        return since > PACE and (self._acked or since > ACK_PATIENCE)

    def _tell(self, job: Curves) -> None:
        shape = job.shape_key
        head, numbers = job.told(self._rows, self._frames, self._seed)
        if shape != self._known:
            self._known, head["meta"] = shape, job.meta()
        head |= {"computed": self.computed, "given_up": self.given_up}
        self._rows, self._frames = len(job.epochs), len(job.frames)
        self._told, self._acked, self._other_seed = time.monotonic(), False, False
        self._say(self.number, head, numbers)

    def _tell_histogram(self, job: Histogram) -> None:
        self._told_many = time.monotonic()
        self._say(self.number, job.told())
