"""When a run whose worker died is tried again, and when that has been of no use."""

import signal
from dataclasses import dataclass, field

SAME_STEP = 2
"""Deaths at one and the same step after which a run counts as failed."""

IN_VAIN = 6
"""Deaths in a row, none of them further than the one before, after which a run counts as failed."""


@dataclass
class _Deaths:
    furthest: int = -1
    at_furthest: int = 0
    in_vain: int = 0


@dataclass
class RetryRule:
    """Remembers the deaths of each run's workers; one while paused does not count."""

    _runs: dict[str, _Deaths] = field(default_factory=dict)

    def after_death(self, run_id: str, step: int, exit_code: int, *, paused: bool) -> str | None:
        """None to try again from the checkpoint, else the sentence that says why not."""
        deaths = self._runs.setdefault(run_id, _Deaths())
        if paused:
            return None
        if step > deaths.furthest:
            deaths.furthest, deaths.at_furthest, deaths.in_vain = step, 1, 1
            return None
        deaths.in_vain += 1
        deaths.at_furthest += step == deaths.furthest
        if deaths.at_furthest < SAME_STEP and deaths.in_vain < IN_VAIN:
            return None
        cause = (
            "probably for want of memory; make the model, the data or the number of seeds smaller"
            if exit_code == -signal.SIGKILL
            else f"with exit code {exit_code}; this looks like an error of the trainer"
        )
        return f"The worker was ended {deaths.in_vain} times at or before step {deaths.furthest}, {cause}."

    def forget(self, run_id: str) -> None:
        """The run has ended: start afresh should it be taken up again."""
        self._runs.pop(run_id, None)
