"""Anew: the settings of a run that goes on from another, as those of one that begins at step 0."""

from copy import deepcopy
from typing import Any

from sandbox.runner.arm_names import BESIDE
from sandbox.ui.settings import Plain

OPTIMIZER = "optimizer"


def anew(plain: Plain, renamed: bool = True) -> Plain:
    """`plain` without its fork: arms are set to what the fork went on with, which is what they are called by.

    The optimizer is where all arms agree. An arm's own learning rate, which only a fork can have, is left
    out, and of its name too where the arms are `renamed` and no other has that name then.
    """
    fork = plain.get("fork")
    found = deepcopy({name: value for name, value in plain.items() if name != "fork"})
    if not isinstance(fork, dict):
        return found
    values = {(one["arm"], one["key"]): one["value"] for one in fork.get("values", [])}
    for arm in found["arms"]:
        for key, value in _of(values, arm["name"]).items():
            slot, _, knob = key.partition(".")
            settings = arm.get(slot) or (found.get("model") or {}).get(slot)
            if slot != OPTIMIZER and isinstance(settings, dict):
                arm[slot] = {**settings, knob: value}
    own = [
        {k: v for k, v in _of(values, arm["name"]).items() if k.startswith(OPTIMIZER)}
        for arm in found["arms"]
    ]
    for key, value in own[0].items():
        if all(one.get(key) == value for one in own):
            found[OPTIMIZER][key.partition(".")[2]] = value
    if renamed:
        _rename(found["arms"], own)
    return found


def _of(values: dict[tuple[str, str], Any], arm: str) -> dict[str, Any]:
    return {key: value for (name, key), value in values.items() if name == arm}


def _rename(arms: list[Plain], own: list[dict[str, Any]]) -> None:
    """Take out of the names what only a fork's arm can have."""
    for arm, values in zip(arms, own, strict=True):
        said = {key.partition(".")[2] for key in values}
        base, *beside = arm["name"].split(BESIDE)
        name = BESIDE.join([base, *(word for word in beside if word.partition("=")[0] not in said)])
        if name not in {other["name"] for other in arms}:
            arm["name"] = name
