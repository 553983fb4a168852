"""A worker: one process that trains one run, and ends when the supervisor's end of its pipe closes."""

import json
import logging
import os
import resource
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path

from sandbox.foundations.errors import RunUnavailable, SandboxError
from sandbox.runner.room import DISK_FULL, SENTENCE
from sandbox.store.folder import DATABASE

NICENESS = 10
ORPHANED = 3
"""Exit code of a worker whose supervisor has gone."""

LOCK_PATIENCE = 5.0
"""Seconds to wait for an earlier writer of the run to end."""

log = logging.getLogger(__name__)


def work(connection: Connection, folder: str, plain: str, device: str, memory: int) -> None:
    """Train the run in `folder` to its end; entry point of the child process.

    `plain` is the experiment as JSON, `memory` the most bytes of data the process may hold (0: no limit).
    Sends ("beat", state, step) while it runs and ("end", state, step, reason) at last.
    """
    bind_to_supervisor(connection)
    be_modest(memory if device == "cpu" else 0)
    last = [0]

    def beat(state: str, step: int) -> None:
        last[0] = step
        if state == DISK_FULL:
            tell(connection, ("beat", "paused", step, SENTENCE))
        else:
            tell(connection, ("beat", state, step))

    try:
        state, reason, last[0] = _train(folder, plain, device, beat, connection)
    except SandboxError as error:
        state, reason = "failed", str(error)
    except MemoryError:
        state, reason = (
            "failed",
            "The run needs more memory than a worker may use; make the model or data smaller.",
        )
    except Exception as error:
        log.exception("the worker of %s failed", folder)
        if "allocate memory" in str(error) or "not enough memory" in str(error):
            reason = "The run needs more memory than a worker may use; make the model or data smaller."
        else:
            reason = f"The trainer met an error of its own: {type(error).__name__}: {str(error)[:300]}"
        state = "failed"
    tell(connection, ("end", state, last[0], reason))


def _train(
    folder: str, plain: str, device: str, beat: Callable[[str, int], None], connection: Connection
) -> tuple[str, str, int]:
    import torch

    from sandbox.runner.admission import admit_with_cost
    from sandbox.runner.execution import Execution
    from sandbox.runner.limits import refuse_beyond
    from sandbox.store import open_run

    torch.set_num_threads(1)
    experiment, cost = admit_with_cost(json.loads(plain))
    begin = 0 if experiment.fork is None else experiment.fork.step
    if not (Path(folder) / DATABASE).exists():  # what has begun was within the limits then
        refuse_beyond(experiment.to_plain(), asdict(cost), device)
    deadline = time.monotonic() + LOCK_PATIENCE
    while True:
        try:
            execution = Execution(experiment, Path(folder), device, live=True, on_beat=beat)
            break
        except RunUnavailable:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
    state, reason = execution.run()
    with open_run(folder) as run:
        status = run.status
    seconds, step = float(status["seconds"]), int(status["step"])
    updates = min(seconds, sum(status.get("arm_seconds", {}).values()) or seconds)
    tell(connection, ("pace", cost.flops / experiment.steps, seconds, step - begin, cost.torch, updates))
    return state, reason, step


def bind_to_supervisor(connection: Connection) -> None:
    """End this process as soon as the other end of `connection` is closed, however that came about.

    Nothing is written on the way out: the database holds what was committed, and the next worker
    repeats the steps since the last checkpoint with the same bits.
    """

    def watch() -> None:
        try:
            while True:
                connection.recv()
        except (EOFError, OSError):
            os._exit(ORPHANED)

    threading.Thread(target=watch, name="supervisor-watch", daemon=True).start()


def tell(connection: Connection, message: tuple[object, ...]) -> None:
    """Send to the supervisor; a closed pipe is no failure of the run, so this process ends on the spot."""
    try:
        connection.send(message)
    except OSError:
        os._exit(ORPHANED)


def be_modest(memory: int) -> None:
    """Leave the processor to the pages, and fail cleanly instead of swapping the machine to death."""
    os.nice(max(0, NICENESS - os.nice(0)))
    if memory:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limit = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


def report_preload(connection: Connection) -> None:
    """Tell whether the fork server had torch and the package's modules before this process began."""
    connection.send(("torch" in sys.modules, "sandbox.runner.preload" in sys.modules))
