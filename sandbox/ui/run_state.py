"""The state of a run: the queue's word where there is one, else the worker's own in the run's folder."""

from dataclasses import dataclass

from sandbox.runner import queue, watching
from sandbox.store import Run
from sandbox.ui import session

ENDED = ("stopped", "failed", "done")
RESTING = (*ENDED, "paused")
WORDS = {
    "queued": "Queued", "running": "Running", "paused": "Paused", "stalled": "Stalled",
    "stopped": "Stopped", "failed": "Failed", "done": "Done",
}  # fmt: skip
COLOURS = {
    "queued": "gray", "running": "green", "paused": "orange", "stalled": "red",
    "stopped": "gray", "failed": "red", "done": "blue",
}  # fmt: skip


@dataclass(frozen=True)
class RunState:
    """What to say about a run now."""

    state: str
    step: int
    reason: str
    seconds: float = 0.0

    @property
    def resting(self) -> bool:
        """Whether nothing is being trained, so that its numbers stand still."""
        return self.state in RESTING


def state_of(run_id: str, run: Run | None) -> RunState:
    """The state of the run; `failed` where neither the queue nor a folder knows it."""
    queued = queue.state(run_id)
    status = run.status if run is not None else {}
    if queued is None:
        return RunState(
            status.get("state", "failed"),
            int(status.get("step", 0)),
            str(status.get("reason", "")) if run else session.damage(run_id) or "There is no such run here.",
            float(status.get("seconds", 0.0)),
        )
    step = max(queued.step, int(status.get("step", 0)))
    reason = queued.reason or str(status.get("reason", ""))
    if run is None and queued.state in ENDED and not reason:
        reason = session.damage(run_id)
    return RunState(queued.state, step, reason, float(status.get("seconds", 0.0)))


def live_state(run_id: str) -> dict[str, str] | None:
    """The queue's word on a run for the live view; None where it never went through the queue."""
    queued = queue.state(run_id)
    if queued is not None and queued.state not in ENDED:
        watching.seen(run_id)
    return None if queued is None else {"state": queued.state, "reason": queued.reason}
