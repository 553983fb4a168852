"""The checker: a process with torch that says whether an experiment is sound, and what there is."""

import json
import logging
import os
from multiprocessing.connection import Connection

from sandbox.foundations.errors import SandboxError
from sandbox.runner.queue import refusal
from sandbox.runner.worker import bind_to_supervisor

log = logging.getLogger(__name__)


def answer_checks(requests: Connection, lifeline: Connection) -> None:
    """Answer requests until the supervisor goes; entry point of the child process.

    A request is ("check", id, JSON text), ("catalogue", 0, "") or ("warm-up", -1, ""); the answer is
    (id, JSON text), the text empty where the catalogue could not be made.
    """
    bind_to_supervisor(lifeline)
    os.nice(5)  # before the trainers, after the pages
    import torch

    torch.set_num_threads(1)
    while True:
        try:
            question, number, text = requests.recv()
        except (EOFError, OSError):
            return  # the supervisor has ended
        answer = {"catalogue": _catalogue, "warm-up": _warm_up}.get(question)
        requests.send((number, answer() if answer is not None else _check(text)))


def _catalogue() -> str:
    try:
        from sandbox.experiment.describe import describe

        return json.dumps(describe())
    except Exception:  # the pages say that it is missing; the log says why
        log.exception("the catalogue could not be made")
        return ""


def _warm_up() -> str:
    try:
        from sandbox.runner.warm_up import warm_up

        return json.dumps(warm_up())
    except Exception:  # estimates then say that they are a first guess
        log.exception("the machine's pace could not be measured")
        return "{}"


def _check(text: str) -> str:
    try:
        from sandbox.experiment.describe import check
        from sandbox.runner.limits import refuse_beyond

        answer = check(json.loads(text))
        if answer["ok"]:
            refuse_beyond(answer["plain"], answer["cost"])
    except SandboxError as error:
        answer = refusal(str(error))
    except Exception as error:  # whatever it is, somebody waits for a sentence
        log.exception("an experiment could not be checked")
        answer = refusal(f"The experiment could not be checked: {type(error).__name__}: {str(error)[:200]}")
    return json.dumps(answer)
