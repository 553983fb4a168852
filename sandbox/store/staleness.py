"""Staleness: which stored certificates a later change of a live knob has left without their ground."""

from typing import Any

import numpy as np

from sandbox.foundations.certificate import STALE
from sandbox.foundations.readings import Answer, Certificate

REASON = "a live knob was changed after this was computed"
UNTOUCHED = "optimizer."
"""Keys of changes that no certificate rests on: how fast weights move says nothing about these weights."""


def stale_since(changes: Any, arm: str, step: int) -> str | None:
    """Why certificates of `arm` computed at `step` are stale, naming the first change; None where they stand.

    `changes` is what the run recorded: [{"step", "arm", "key", "value"}]; a change at a step holds from the
    next update on, so that a reading at its own step is of the setting before it. Our reading: the learning
    rate touches none, the correction's strength and the temperature touch all.
    """
    for change in changes if isinstance(changes, list) else ():
        if not isinstance(change, dict) or change.get("arm") != arm:
            continue
        key, at = str(change.get("key", "")), change.get("step")
        if isinstance(at, int) and at >= step and not key.startswith(UNTOUCHED):
            return f"{REASON}: {key} at step {at}"
    return None


def as_it_stands(answer: Answer, changes: Any, arm: str, step: int) -> Answer:
    """`answer`, or where it is a certificate that a change has overtaken, the same one called stale."""
    if not isinstance(answer, Certificate):
        return answer
    reason = stale_since(changes, arm, step)
    return answer if reason is None else answer.stale(reason)


def column_as_it_stands(
    column: str, values: np.ndarray, meta: dict[str, Any], changes: Any, arm: str, step: int
) -> np.ndarray:
    """One stored column of a reading at `step` with that type's meta, stale where its certificate is.

    A stale certificate's reason is the last of what `meta_as_it_stands` says.
    """
    if meta.get("type") != "Certificate" or column not in ("state", "reason"):
        return values
    if stale_since(changes, arm, step) is None:
        return values
    n_reasons = len(meta_as_it_stands(meta)["reasons"])
    return np.full_like(values, STALE if column == "state" else n_reasons - 1)


def meta_as_it_stands(meta: dict[str, Any]) -> dict[str, Any]:
    """What a reading says beside its numbers; a certificate's reasons end with that of stale ones."""
    if meta.get("type") != "Certificate" or REASON in meta.get("reasons", ()):
        return meta
    return meta | {"reasons": [*meta.get("reasons", ()), REASON]}
