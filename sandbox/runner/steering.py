"""Steering: who may stop, change, name and delete a run on a server that several people share."""

import os

from sandbox.foundations.errors import InvalidKnob, RunUnavailable
from sandbox.runner import queue

STEER = "SANDBOX_STEER"
ALL, OWNER = "all", "owner"
ANYBODY = "local"
"""The owner of runs whose starter gave no name; they are everybody's."""


def who_steers() -> str:
    """Who steers runs here: ALL unless the environment says otherwise, whatever else it says."""
    return ALL if _said() in ("", ALL) else OWNER


def refuse_unknown() -> None:
    """Raise InvalidKnob where the environment says neither who steers nor nothing."""
    if _said() not in ("", ALL, OWNER):
        raise InvalidKnob(f"{STEER} is {_said()[:40]!r}; it must be {ALL!r} or {OWNER!r}.")


def _said() -> str:
    return os.environ.get(STEER, "").strip().lower()


def refusal(owner: str, by: str) -> str:
    """Why `by` may not steer a run of `owner`, in a sentence; empty where that is allowed."""
    if owner in ("", ANYBODY, by) or who_steers() == ALL:
        return ""
    return f"This is {owner[:60]}'s, whom alone it obeys here; give that name under Queue if you are."


def refusal_for(run_id: str, by: str) -> str:
    """As `refusal`, of a run by its id; what never went through the queue has no owner."""
    if who_steers() == ALL:
        return ""
    found = queue.state(run_id)
    return refusal(found.owner if found else "", by)


def require(run_id: str, by: str) -> None:
    """Raise RunUnavailable, one sentence, where `by` may not steer the run."""
    if sentence := refusal_for(run_id, by):
        raise RunUnavailable(sentence)
