"""Changes: what differs between two experiments, in the words of their knobs."""

from typing import Any

from sandbox.foundations.catalogue import Catalogue, KnobEntry
from sandbox.ui.settings import Plain
from sandbox.ui.words import count, whole


def changes(catalogue: Catalogue, before: Plain, after: Plain) -> list[str]:
    """One short sentence for each setting that differs; empty where both train the same."""
    found = _variant(catalogue, "task", before["task"], after["task"], "Task")
    found += _variant(catalogue, "architecture", before["model"], after["model"], "Model")
    found += _variant(catalogue, "optimizer", before["optimizer"], after["optimizer"], "Optimizer")
    found += _values(catalogue.pace, before, after)
    if before["seeds"] != after["seeds"]:
        found.append(f"Seeds: {_seeds(before['seeds'])} to {_seeds(after['seeds'])}")
    return found + _arms(before["arms"], after["arms"])


def _variant(catalogue: Catalogue, family: str, before: Plain, after: Plain, word: str) -> list[str]:
    entry = catalogue.variant(family, after["kind"])
    if before["kind"] != after["kind"]:
        return [f"{word}: {catalogue.variant(family, before['kind']).title} to {entry.title}"]
    found = _values(entry.knobs, before, after)
    for slot in entry.slots:
        found += _variant(catalogue, slot, before[slot], after[slot], slot.capitalize())
    return found


def _values(knobs: dict[str, KnobEntry], before: Plain, after: Plain) -> list[str]:
    return [
        f"{knob.spec.label}: {shown(before[name])} to {shown(after[name])}"
        for name, knob in knobs.items()
        if before[name] != after[name]
    ]


def _arms(before: list[Plain], after: list[Plain]) -> list[str]:
    """An arm that has gone and one that has come with the same parts are one: its name follows its knobs."""
    old, new = ({arm["name"]: arm for arm in arms} for arms in (before, after))
    gone = [name for name in old if name not in new]
    found: list[str] = []
    for name in new:
        if name in old:
            continue
        same = next((other for other in gone if parts(old[other]) == parts(new[name])), None)
        if same is None:
            found.append(f"Arm {name} added")
        else:
            gone.remove(same)
            found.append(f"Arm {same} to {name}")
    found += [f"Arm {name} removed" for name in gone]
    found += [f"Arm {name} changed" for name in new if name in old and new[name] != old[name]]
    if not found and before != after:
        found.append("Order of the arms")
    return found


def parts(arm: Plain) -> dict[str, str]:
    """What an arm changes: the kind in every slot that it fills, whatever their knobs are."""
    return {slot: settings["kind"] for slot, settings in arm.items() if slot != "name"}


def extent(plain: Plain) -> str:
    """How much an experiment trains: `4 arms, 3 seeds, 1,500 steps`."""
    arms, seeds = count(len(plain["arms"]), "arm"), count(len(plain["seeds"]), "seed")
    return f"{arms}, {seeds}, {count(plain['steps'], 'step')}"


def shown(value: Any) -> str:
    """A setting's value as a person writes it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return whole(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _seeds(seeds: list[int]) -> str:
    return ", ".join(map(str, seeds)) if len(seeds) <= 6 else f"{len(seeds)} seeds"
