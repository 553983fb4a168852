"""Entry of the instant worker: what its process does first, before anything heavy is loaded."""

import logging
import os
from multiprocessing.connection import Connection

from sandbox.foundations.errors import RunUnavailable
from sandbox.runner.instant.link import Link
from sandbox.runner.worker import bind_to_supervisor

NICENESS = 5
"""After the pages, before the trainers."""

log = logging.getLogger(__name__)


def serve_instant(connection: Connection, address: str, secret: str) -> None:
    """Train for the app that waits at `address` until it goes; entry point of the child process."""
    bind_to_supervisor(connection)
    os.nice(max(0, NICENESS - os.nice(0)))
    import torch

    from sandbox.runner.instant.worker import InstantWorker, cores

    torch.set_num_threads(1)
    try:
        link = Link(address, secret)
    except RunUnavailable as fault:
        log.info("%s", fault)
        return
    InstantWorker(link, cores()).run()
