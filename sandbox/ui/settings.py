"""Settings: an experiment's plain form, checked and completed against the catalogue, without torch.

The trainer's process checks it again through the settings' own classes; what is checked here are
names, kinds, bounds and sizes, so that a link or a file is answered at once and changes nothing.
"""

from collections.abc import Mapping
from typing import Any

from sandbox.foundations.catalogue import Catalogue, KnobEntry, VariantEntry
from sandbox.foundations.errors import InvalidExperiment, InvalidKnob, InvalidPlain

Plain = dict[str, Any]

DEFAULTS = {"task": "sparse modular addition", "architecture": "encoder", "optimizer": "adamw"}
STANDARD = "standard"
MAX_ARMS, MAX_SEEDS, MAX_SEED, MAX_NAME = 16, 128, 2**31 - 1, 120


def complete(catalogue: Catalogue, plain: Any) -> Plain:
    """The canonical form of `plain`: every value that defines the science, defaults included.

    Raises a SandboxError with one sentence for an unknown key, a wrong kind, a value out of range.
    """
    table = _table(plain, "The experiment")
    known = ["schema", "task", "model", "optimizer", *catalogue.pace, "seeds", "arms"]
    for key in table:
        if key not in known:
            raise InvalidPlain(f"The experiment has no setting {str(key)[:80]!r}; it has {', '.join(known)}.")
    schema = table.get("schema", catalogue.schema)
    if isinstance(schema, bool) or schema != catalogue.schema:
        raise InvalidPlain(
            f"The experiment has schema {repr(schema)[:40]}; this version reads schema {catalogue.schema}."
        )
    return {
        "schema": catalogue.schema,
        "task": variant(catalogue, "task", table.get("task", DEFAULTS["task"]), "task"),
        "model": variant(catalogue, "architecture", table.get("model", DEFAULTS["architecture"]), "model"),
        "optimizer": variant(
            catalogue, "optimizer", table.get("optimizer", DEFAULTS["optimizer"]), "optimizer"
        ),
        **_knobs(catalogue.pace, table, "experiment"),
        "seeds": seeds(table.get("seeds", [0])),
        "arms": _arms(catalogue, table.get("arms", [{"name": STANDARD}])),
    }


def variant(catalogue: Catalogue, family: str, plain: Any, where: str) -> Plain:
    """The canonical form of one variant, given as {"kind": ..., knob: ...} or as its kind alone."""
    table = _table({"kind": plain} if isinstance(plain, str) else plain, where)
    kind = table.get("kind")
    if not isinstance(kind, str):
        raise InvalidPlain(f"{where} is {repr(plain)[:80]}; it must be a table with the key 'kind'.")
    entry = catalogue.variant(family, kind)
    for key in table:
        if key != "kind" and key not in entry.knobs and key not in entry.slots:
            has = ", ".join([*entry.knobs, *entry.slots]) or "no settings"
            raise InvalidPlain(f"{where} has no setting {str(key)[:80]!r}; it has {has}.")
    slots = {
        slot: variant(catalogue, slot, table.get(slot, default), f"{where}.{slot}")
        for slot, default in entry.slots.items()
    }
    return {"kind": kind} | _knobs(entry.knobs, table, where) | slots


def seeds(value: Any) -> list[int]:
    """The seeds as whole numbers, each once, at most 128 of them."""
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= MAX_SEEDS:
        raise InvalidKnob(f"seeds is {repr(value)[:80]}; give a list of 1 to {MAX_SEEDS} whole numbers.")
    for seed in value:
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= MAX_SEED:
            raise InvalidKnob(
                f"A seed is {repr(seed)[:80]}; it must be a whole number between 0 and {MAX_SEED}."
            )
    if len(set(value)) < len(value):
        raise InvalidKnob(f"seeds is {repr(list(value))[:80]}; give each seed once.")
    return list(value)


def arm_plain(catalogue: Catalogue, plain: Any) -> Plain:
    """The canonical form of one arm, given as a table with its name."""
    table = _table(plain, "An arm")
    name = table.get("name")
    if not isinstance(name, str):
        raise InvalidPlain(f"An arm is {repr(plain)[:80]}; it must be a table with a text 'name'.")
    if not 0 < len(name) <= MAX_NAME or not name.isprintable():
        raise InvalidPlain(f"An arm's name is {name[:40]!r}; use 1 to {MAX_NAME} printable characters.")
    for key in table:
        if key != "name" and key not in catalogue.slots:
            raise InvalidPlain(
                f"Arm {name[:80]!r} has no slot {str(key)[:80]!r}; it has {', '.join(catalogue.slots)}."
            )
    changed = [slot for slot in catalogue.slots if slot in table]
    where = f"arm {name!r}"
    return {"name": name} | {
        slot: variant(catalogue, slot, table[slot], f"{where}, {slot}") for slot in changed
    }


def variant_entry(catalogue: Catalogue, plain: Plain, family: str) -> VariantEntry:
    """The catalogue's entry of the variant whose plain form is `plain`."""
    return catalogue.variant(family, plain["kind"])


def _arms(catalogue: Catalogue, plain: Any) -> list[Plain]:
    from sandbox.ui.arms import parse_arm

    if not isinstance(plain, list):
        raise InvalidPlain(f"arms is {repr(plain)[:80]}; it must be a list of arms.")
    if not 1 <= len(plain) <= MAX_ARMS:
        raise InvalidExperiment(f"There are {len(plain)} arms; an experiment has 1 to {MAX_ARMS}.")
    arms = [parse_arm(catalogue, arm) if isinstance(arm, str) else arm_plain(catalogue, arm) for arm in plain]
    names = [arm["name"] for arm in arms]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidExperiment(f"Two arms are named {twice!r}; give each its own name.")
    return arms


def _knobs(entries: Mapping[str, KnobEntry], table: Mapping[str, Any], where: str) -> Plain:
    return {
        name: entry.check(where, table[name]) if name in table else entry.default
        for name, entry in entries.items()
    }


def _table(plain: Any, what: str) -> Plain:
    if not isinstance(plain, dict):
        raise InvalidPlain(f"{what} is {repr(plain)[:80]}; it must be a table of settings.")
    return plain
