"""Forks as their plain form has them: the run and the step that an experiment goes on from."""

from collections.abc import Mapping
from typing import Any


def origin(plain: Mapping[str, Any]) -> tuple[str, int] | None:
    """The run and the step that an experiment goes on from; None where it begins by itself."""
    fork = plain.get("fork")
    if not isinstance(fork, dict) or not isinstance(fork.get("run"), str):
        return None
    step = fork.get("step")
    return fork["run"], step if isinstance(step, int) else 0


def begun_at(plain: Mapping[str, Any]) -> int:
    """The step at which a run of `plain` begins; its clock begins there, too."""
    found = origin(plain)
    return 0 if found is None else found[1]
