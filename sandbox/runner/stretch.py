"""A stretch of work: what it takes by the clock, without the time for which its process was held."""

import time

PATIENCE, SHARE = 1.0, 0.05
"""A stretch of more seconds than this, with less than this share of them on a core, was held."""


class Stretch:
    """Begins when it is made.

    A process that was stopped or frozen says nothing about how long its work takes: one such hour would stand
    in the run's table, and in every estimate made from it.
    """

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    @property
    def cpu(self) -> float:
        """CPU seconds so far, of all threads."""
        return time.process_time() - self._cpu

    @property
    def seconds(self) -> float:
        """Seconds so far by the clock; the CPU's where the process was held."""
        passed, cpu = time.perf_counter() - self._wall, self.cpu
        return cpu if passed > PATIENCE and cpu < SHARE * passed else passed
