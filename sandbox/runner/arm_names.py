"""Arm names: what the arms of a fork are called, so that a name says the values that its arm goes on with."""

from collections.abc import Mapping, Sequence
from typing import Any

from sandbox.foundations.errors import InvalidExperiment, SandboxError
from sandbox.foundations.spec import read_spec

MAX_NAME = 120
BESIDE = ", "
"""Between a name and a value that no part of it can say; a SPEC has commas without a space."""

Plain = dict[str, Any]


def named_by_values(arms: Sequence[Plain], values: Mapping[tuple[str, str], Any]) -> dict[str, str]:
    """Every arm's name -> the name that says the `values`, by (arm, dotted key), that the arm goes on with.

    `spectral:shift=0.5` that goes on with a shift of 2 becomes `spectral:shift=2`. What the name cannot say
    stands behind it: `standard, learning_rate=0.01`. No two arms get the same name.
    """
    found: dict[str, str] = {}
    changed = {name for name, _ in values}
    for arm in sorted(arms, key=lambda arm: arm["name"] in changed):  # who is as before keeps its name
        own = {key: value for (name, key), value in values.items() if name == arm["name"]}
        name, n = _named(arm, own), 2
        while name in found.values():
            name, n = f"{_named(arm, own)[: MAX_NAME - 5]} ({n})", n + 1
        found[arm["name"]] = name
    return found


def arms_of_parent(parent: Plain, fork: Plain) -> dict[str, str]:
    """The arms of the experiment `fork` -> the arms of the experiment `parent` that they go on from.

    InvalidExperiment where one of them is none of the parent's.
    """
    left, found = list(parent["arms"]), {}
    for arm in fork["arms"]:
        own = {
            value["key"]: value["value"] for value in fork["fork"]["values"] if value["arm"] == arm["name"]
        }
        same = [one for one in left if _slots(one) == _slots(arm)]
        by_name = [one for one in same if arm["name"] in (one["name"], _named(one, own))]
        if not same:
            raise InvalidExperiment(f"The parent has no arm that {arm['name'][:80]!r} could go on from.")
        chosen = (by_name or same)[0]
        left.remove(chosen)
        found[arm["name"]] = chosen["name"]
    return found


def _slots(arm: Plain) -> Plain:
    return {slot: settings for slot, settings in arm.items() if slot != "name"}


def _named(arm: Plain, values: Mapping[str, Any]) -> str:
    """The name of one arm with its values, by dotted key."""
    base, *beside = arm["name"].split(BESIDE)
    kinds = {settings["kind"]: slot for slot, settings in _slots(arm).items()}
    said: set[str] = set()
    if _is_spec(base, kinds):
        parts = []
        for part in base.split("+"):
            kind, _, settings = part.partition(":")
            own = {key: v for key, v in values.items() if key.partition(".")[0] == kinds.get(kind.strip())}
            pairs = dict(pair.partition("=")[::2] for pair in settings.split(",") if pair)
            pairs |= {key.partition(".")[2]: _written(value) for key, value in own.items()}
            said |= own.keys()
            parts.append(kind + (":" if pairs else "") + ",".join(f"{k}={v}" for k, v in pairs.items()))
        base = "+".join(parts)
    more = {key.partition(".")[2]: _written(v) for key, v in values.items() if key not in said}
    kept = [word for word in beside if word.partition("=")[0] not in more]
    words = BESIDE.join([base, *kept, *(f"{knob}={value}" for knob, value in more.items())])
    return words if len(words) <= MAX_NAME else f"{words[: MAX_NAME - 1]}…"


def _is_spec(name: str, kinds: Mapping[str, str | None]) -> bool:
    try:
        read_spec(name, kinds)
    except SandboxError:
        return False
    return True


def _written(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
