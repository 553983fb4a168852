"""Asking for an instant worker: the app names the socket at which it waits for one."""

import time

from sandbox.foundations.errors import RunUnavailable
from sandbox.runner.control import ensure_supervisor
from sandbox.runner.queue import catalogue_connection


def ask_for_worker(address: str, secret: str) -> None:
    """Have an instant worker come to the socket `address` with `secret`.

    Raises RunUnavailable where there is nobody who could start one.
    """
    if not ensure_supervisor():
        raise RunUnavailable("No supervisor starts, so that nothing can be trained; see the server's log.")
    with catalogue_connection() as connection:
        connection.execute("INSERT INTO instants VALUES (?, ?, ?)", (address, secret, time.time()))
