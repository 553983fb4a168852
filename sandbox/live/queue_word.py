"""The queue's word on a run, for the times when its worker cannot speak for itself."""

from typing import Any

from sandbox.runner.queue import state

OVERRULING = ("queued", "stalled", "stopped", "failed", "done")
"""While the queue says running or paused, the worker is alive and knows better which of the two."""


def queue_word(run_id: str) -> dict[str, Any] | None:
    """{"state", "reason"} where the queue's state overrules the recorded one, else None."""
    queued = state(run_id)
    if queued is None or queued.state not in OVERRULING:
        return None
    return {"state": queued.state, "reason": queued.reason}
