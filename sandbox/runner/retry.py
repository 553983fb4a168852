"""When a run whose worker died is tried again, and when that has been of no use."""

import signal
import time
from dataclasses import dataclass, field

SETTLED = 3.0
"""Seconds at one step after which being killed there may be the step's own fault, such as its memory."""

SAME_STEP = 5
"""Deaths at one and the same step, by its own fault, after which a run counts as failed."""

IN_VAIN = 30
"""Deaths in a row, none of them further than the one before, after which a run counts as failed."""

OUT_OF_MEMORY = 2
"""Deaths for want of memory after which a run counts as failed."""

FIRST_REST, LONGEST_REST = 0.25, 4.0
"""Seconds before a run is tried again after a second death in vain; doubled with each further one."""

FORK_SERVER_ENDED = 255
"""Exit code of every worker whose fork server has ended; it says nothing of the worker."""


@dataclass
class _Deaths:
    furthest: int = -1
    at_furthest: int = 0
    in_vain: int = 0
    rests_until: float = 0.0
    ran_out: int = 0


@dataclass
class RetryRule:
    """Remembers the deaths of each run's workers; those while paused or with the fork server do not count."""

    _runs: dict[str, _Deaths] = field(default_factory=dict)

    def after_death(
        self,
        run_id: str,
        step: int,
        exit_code: int,
        *,
        stayed: float,
        paused: bool,
        out_of_memory: int | None = None,
    ) -> str | None:
        """None to try again from the checkpoint, else the sentence that says why not.

        `stayed` is for how many seconds the worker had been at `step`: somebody who kills a run may do so
        at once and again, and it goes on. `out_of_memory` are the bytes it held where the system ended it
        for want of memory: that is tried once more, since others may have needed the memory, then said.
        """
        deaths = self._runs.setdefault(run_id, _Deaths())
        if out_of_memory is not None:
            deaths.ran_out += 1
            if deaths.ran_out >= OUT_OF_MEMORY:
                return (
                    f"Out of memory: the system ended the worker {deaths.ran_out} times, last at step {step} "
                    f"when it held {out_of_memory / 1e9:.1f} GB; make the model, the data or the number of "
                    "seeds smaller."
                )
            return None
        if paused or exit_code == FORK_SERVER_ENDED:
            return None
        own_fault = exit_code != -signal.SIGKILL or stayed >= SETTLED
        if step > deaths.furthest:
            self._runs[run_id] = _Deaths(step, int(own_fault), 1, ran_out=deaths.ran_out)
            return None
        deaths.in_vain += 1
        deaths.at_furthest += own_fault and step == deaths.furthest
        if deaths.at_furthest < SAME_STEP and deaths.in_vain < IN_VAIN:
            rest = min(FIRST_REST * 2 ** (deaths.in_vain - 2), LONGEST_REST)
            deaths.rests_until = time.monotonic() + rest
            return None
        cause = (
            "probably for want of memory; make the model, the data or the number of seeds smaller"
            if exit_code == -signal.SIGKILL
            else f"with exit code {exit_code}; this looks like an error of the trainer"
        )
        return f"The worker was ended {deaths.in_vain} times at or before step {deaths.furthest}, {cause}."

    def resting(self) -> set[str]:
        """The runs that are not to be started just now."""
        now = time.monotonic()
        return {run_id for run_id, deaths in self._runs.items() if deaths.rests_until > now}

    def forget(self, run_id: str) -> None:
        """The run has ended: start afresh should it be taken up again."""
        self._runs.pop(run_id, None)


def death_words(code: int | None) -> str:
    """How a process ended, from its exit code."""
    if code is not None and code < 0:
        return f"signal {-code}"
    return f"exit code {code}"
