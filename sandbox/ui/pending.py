"""Pending edits: what the rail has otherwise than the run on the page, and what can be made of it."""

from copy import deepcopy
from typing import Any

from sandbox.foundations.catalogue import Catalogue
from sandbox.foundations.errors import InvalidKnob
from sandbox.runner.fork_plan import PACE, Plan, Setting, values_now
from sandbox.store import Run
from sandbox.ui.changes import parts
from sandbox.ui.settings import Plain

OPTIMIZER = "optimizer"
WHOLE = ("task", "model", "reference_start")
LiveEdit = tuple[str, str, float]
"""Arm, dotted key, value."""


def as_it_stands(plain: Plain, run: Run) -> Plain:
    """The settings of `run` with what was changed since it began, or has been asked for and not refused.

    Those of the optimizer follow where all arms agree.
    """
    found = deepcopy(plain)
    values = values_now(run)
    for (name, key), value in values.items():
        place, _, knob = key.partition(".")
        arm = next((arm for arm in found["arms"] if arm["name"] == name), None)
        if arm is not None and place in arm:
            arm[place][knob] = value
    for knob in found[OPTIMIZER]:
        key = f"{OPTIMIZER}.{knob}"
        made = {values.get((arm["name"], key)) for arm in found["arms"]}
        if len(made) == 1 and (value := made.pop()) is not None:
            found[OPTIMIZER][knob] = value
    return found


def fork_plan(before: Plain, after: Plain, step: int) -> Plan:
    """The edits from `before` to `after` as a fork at `step`.

    Raises InvalidKnob in one sentence for what only a new run can have.
    """
    for part in WHOLE:
        if before.get(part) != after.get(part):
            raise InvalidKnob(f"The {part.replace('_', ' ')} is another one, which only a new run can have.")
    if not set(after["seeds"]) <= set(before["seeds"]):
        raise InvalidKnob("A seed is new; new seeds start at step 0.")
    matched = _matched(before, after)
    settings: list[Setting] = [(None, name, after[name]) for name in PACE if before[name] != after[name]]
    settings += [
        (None, f"{OPTIMIZER}.{name}", value)
        for name, value in after[OPTIMIZER].items()
        if before[OPTIMIZER].get(name) != value
    ]
    settings += [(arm, key, value) for arm, key, value in _arm_edits(matched)]
    return Plan(
        step=step,
        arms=[old["name"] for old, _ in matched],
        seeds=after["seeds"],
        steps=after["steps"],
        settings=settings,
    )


def live_edits(catalogue: Catalogue, before: Plain, after: Plain) -> list[LiveEdit]:
    """The edits as changes of live knobs; empty where there are none, or where some are not live."""
    rest = [name for name in after if name not in ("arms", OPTIMIZER)]
    if (
        any(before.get(name) != after[name] for name in rest)
        or before[OPTIMIZER]["kind"] != after[OPTIMIZER]["kind"]
    ):
        return []
    if len(before["arms"]) != len(after["arms"]):
        return []
    try:
        matched = _matched(before, after)
    except InvalidKnob:
        return []
    found: list[LiveEdit] = []
    knobs = catalogue.variant(OPTIMIZER, after[OPTIMIZER]["kind"]).knobs
    for name, value in after[OPTIMIZER].items():
        if before[OPTIMIZER][name] != value:
            if not knobs[name].spec.live:
                return []
            found += [(old["name"], f"{OPTIMIZER}.{name}", value) for old, _ in matched]
    for old, key, value in _arm_edits(matched):
        slot, _, name = key.partition(".")
        kind = next(arm for arm in before["arms"] if arm["name"] == old)[slot]["kind"]
        if not catalogue.variant(slot, kind).knobs[name].spec.live:
            return []
        found.append((old, key, value))
    return found


def _matched(before: Plain, after: Plain) -> list[tuple[Plain, Plain]]:
    """The arms of both that have the same parts; an arm's name follows its knobs and may be another one."""
    left, found = list(before["arms"]), []
    for new in after["arms"]:
        alike = [old for old in left if parts(old) == parts(new)]
        old = next((old for old in alike if old["name"] == new["name"]), alike[0] if alike else None)
        if old is None:
            raise InvalidKnob(f"Arm {new['name'][:80]} is new, which only a new run can have.")
        left.remove(old)
        found.append((old, new))
    return found


def _arm_edits(matched: list[tuple[Plain, Plain]]) -> list[tuple[str, str, Any]]:
    return [
        (old["name"], f"{slot}.{name}", value)
        for old, new in matched
        for slot in parts(new)
        for name, value in new[slot].items()
        if old[slot].get(name) != value
    ]
