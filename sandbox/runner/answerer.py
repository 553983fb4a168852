"""The answerer: a process that answers the questions to one run that nobody trains, then ends."""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from sandbox.foundations.errors import RunUnavailable
from sandbox.runner.worker import be_modest, bind_to_supervisor

LOOK_EVERY = 0.02
"""Seconds between two looks at the questions and at what is being read."""

PATIENCE = 300.0
"""Seconds within which the writer of a run takes up a question; one that loads torch first takes a few."""

log = logging.getLogger(__name__)


def answer_run(connection: Connection, folder: str) -> None:
    """Answer every open question of the run in `folder`; entry point of the child process."""
    bind_to_supervisor(connection)
    be_modest(0)
    import torch

    torch.set_num_threads(1)
    try:
        answer_all(Path(folder))
    except RunUnavailable as fault:  # somebody trains it by now, and answers too
        log.info("%s: %s", folder, fault)


def answer_all(folder: Path, look: Callable[[], None] = lambda: None) -> None:
    """Hold the run in `folder` until none of its questions is open; `look` is called all the while.

    Raises RunUnavailable where another process writes the run or the folder cannot be written. Leaving by an
    exception of `look` leaves open what is not answered.
    """
    from sandbox.runner.on_demand import OnDemand
    from sandbox.store import RunWriter
    from sandbox.store.folder import read_experiment

    with RunWriter.resume(folder, read_experiment(folder)) as writer:
        on_demand = OnDemand(folder, writer)
        try:
            while on_demand.turn() or on_demand.open:
                writer.commit()
                look()
                time.sleep(LOOK_EVERY)
        finally:
            on_demand.close()


def diagnose(folder: Path, kind: str, step: int, progress: Callable[[int, int], None]) -> None:
    """Have `kind` read at the stored `step` of the run in `folder`, by its writer or else by this process.

    `progress` is told pieces done and all. An exception, such as KeyboardInterrupt, cancels the question.
    Raises InvalidData with the reason where it cannot be answered, or is not taken up within PATIENCE.
    """
    from sandbox.foundations.errors import InvalidData
    from sandbox.runner.places import being_written
    from sandbox.runner.questions import CANCELLED, DONE, ask, cancel, question
    from sandbox.store import open_run

    number = ask(folder, kind, step)
    until = time.monotonic() + PATIENCE
    with open_run(folder) as run:

        def look() -> None:
            found = question(run, number)
            if found is not None:
                progress(found.done, found.of)

        try:
            while (found := question(run, number)) is None or found.open:
                if found is None and time.monotonic() > until:
                    raise InvalidData(
                        f"The question to run {run.id} was not taken up by whoever writes it; ask again, or "
                        "once that process has ended."
                    )
                if not being_written(folder):
                    with suppress(RunUnavailable):
                        answer_all(folder, look)
                        until = 0.0  # what can be read of the questions has been taken up
                        continue
                    if not being_written(folder):
                        answer_all(folder, look)
                look()
                time.sleep(LOOK_EVERY)
        except BaseException:
            cancel(folder, number)
            if not being_written(folder):
                with suppress(RunUnavailable):
                    answer_all(folder)
            raise
        if found.state != DONE:
            raise InvalidData(found.reason or f"The question was {CANCELLED}; ask again.")
