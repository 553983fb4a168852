"""Alone: one method of an object at a time, whichever thread calls it."""

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def alone(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Let `method` wait for the others of its object that are marked so.

    A SQLite connection that is closed amid a query takes the process down.
    """

    @wraps(method)
    def waiting(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self.__dict__.setdefault("_alone", RLock()):
            return method(self, *args, **kwargs)

    return waiting
