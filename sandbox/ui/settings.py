"""Settings: the parts of an experiment's plain form, checked against the catalogue, without torch."""

from collections.abc import Mapping
from typing import Any

from sandbox.foundations.catalogue import Catalogue, KnobEntry
from sandbox.foundations.errors import InvalidKnob, InvalidPlain

Plain = dict[str, Any]

MAX_SEEDS, MAX_SEED, MAX_NAME = 128, 2**31 - 1, 120


def variant(catalogue: Catalogue, family: str, plain: Any, where: str) -> Plain:
    """The canonical form of one variant, given as {"kind": ..., knob: ...} or as its kind alone."""
    table = table_of({"kind": plain} if isinstance(plain, str) else plain, where)
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
    return {"kind": kind} | knob_values(entry.knobs, table, where) | slots


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
    table = table_of(plain, "An arm")
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


def knob_values(entries: Mapping[str, KnobEntry], table: Mapping[str, Any], where: str) -> Plain:
    """A checked value for each knob: that of `table`, else the default."""
    return {
        name: entry.check(where, table[name]) if name in table else entry.default
        for name, entry in entries.items()
    }


def table_of(plain: Any, what: str) -> Plain:
    """`plain` itself, or InvalidPlain where it is no table."""
    if not isinstance(plain, dict):
        raise InvalidPlain(f"{what} is {repr(plain)[:80]}; it must be a table of settings.")
    return plain
