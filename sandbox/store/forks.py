"""Forks as their plain form has them: the run and the step that an experiment goes on from."""

from collections.abc import Mapping
from typing import Any

from sandbox.store.plain_shapes import is_whole


def origin(plain: Mapping[str, Any]) -> tuple[str, int] | None:
    """The run and the step that an experiment goes on from; None where it begins by itself."""
    fork = plain.get("fork")
    if not isinstance(fork, dict) or not isinstance(fork.get("run"), str):
        return None
    step = fork.get("step")
    return fork["run"], step if isinstance(step, int) else 0


def is_fork(found: Any) -> bool:
    """Whether `found` has the parts that an experiment writes of a fork, each of its type."""
    return (
        isinstance(found, dict)
        and isinstance(found.get("run"), str)
        and is_whole(found.get("step"))
        and found["step"] >= 0
        and isinstance(found.get("stages"), list)
        and all(isinstance(stage, dict) and _are_changes(stage.get("changes")) for stage in found["stages"])
        and _are_changes(found.get("values"))
    )


def _are_changes(found: Any) -> bool:
    return isinstance(found, list) and all(
        isinstance(change, dict)
        and isinstance(change.get("arm"), str)
        and isinstance(change.get("key"), str)
        and is_whole(change.get("step"))
        and "value" in change
        for change in found
    )


def begun_at(plain: Mapping[str, Any]) -> int:
    """The step at which a run of `plain` begins; its clock begins there, too."""
    found = origin(plain)
    return 0 if found is None else found[1]
