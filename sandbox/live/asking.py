"""Asking from a picture: a costly reading at a stored step, its progress, and giving it up."""

from typing import Any

import numpy as np

from sandbox.foundations.errors import InvalidData, RunUnavailable
from sandbox.live.feed import Feed
from sandbox.live.panels import asked_kinds
from sandbox.runner import questions
from sandbox.runner.control import ensure_supervisor
from sandbox.runner.places import being_written
from sandbox.runner.queue import diagnose


def progress(feed: Feed) -> list[dict[str, Any]]:
    """The run's latest questions, as JSON values; none where what is recorded is damaged."""
    try:
        return [question.to_plain() for question in questions.from_plain(feed.meta.get(questions.QUESTIONS))]
    except InvalidData:
        return []


def ask(feed: Feed, kind: object, step: object) -> str:
    """Ask for `kind` at the stored `step`; the id to follow it by. The same question is asked once.

    Raises InvalidData where that is nothing to ask, RunUnavailable where the run cannot be asked.
    """
    if feed.recorded:
        raise RunUnavailable("A recorded run is read-only; train one of your own to ask it.")
    if not isinstance(kind, str) or kind not in asked_kinds():
        raise InvalidData(f"{str(kind)[:80]!r} is not read on demand; ask from a picture that offers it.")
    if type(step) is not int or step not in feed.stored:
        raise InvalidData(f"No weights are stored at step {str(step)[:20]}{_nearest(feed, step)}.")
    waits = [question for question in progress(feed) if question["state"] in questions.OPEN]
    for question in waits:
        if (question["kind"], question["step"]) == (kind, step):
            return str(question["id"])
    if len(waits) >= questions.MOST_OPEN:
        raise InvalidData(
            f"{len(waits)} questions to this run wait already; cancel one, or wait for an answer."
        )
    if not (being_written(feed.folder) or ensure_supervisor()):
        raise RunUnavailable("Nothing here answers, because no supervisor starts; see the server's log.")
    return diagnose(feed.run_id, str(kind), step)


def give_up(feed: Feed, number: object) -> None:
    """Cancel the question with the id `number`; what has been read of it is dropped.

    Raises InvalidData for what is no id, RunUnavailable where the run cannot be asked.
    """
    if feed.recorded or not isinstance(number, str) or len(number) > questions.LONGEST_ID:
        raise InvalidData(f"There is no question {str(number)[:40]!r} to cancel here.")
    questions.cancel(feed.folder, number)


def _nearest(feed: Feed, step: object) -> str:
    if not feed.stored or not isinstance(step, int):
        return ""
    at = int(np.searchsorted(feed.stored, step))
    return "; the nearest are " + " and ".join(str(near) for near in feed.stored[max(at - 1, 0) : at + 1])
