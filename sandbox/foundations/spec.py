"""Arm SPEC: the text `kind:key=value,key=value`, several joined by `+`, as plain settings of slots."""

from collections.abc import Mapping
from typing import Any

from sandbox.foundations.errors import InvalidPlain
from sandbox.foundations.registry import nearest

STANDARD = "standard"
"""The arm that changes nothing."""


def read_spec(spec: str, slot_of: Mapping[str, str | None]) -> dict[str, dict[str, Any]]:
    """The plain settings that `spec` names, by slot; `slot_of` maps every kind to its slot.

    Raises UnknownVariant for an unknown kind, InvalidPlain for a slot filled twice or a setting that is not
    key=value; whether the keys and values fit the kind is for whoever builds it.
    """
    filled: dict[str, dict[str, Any]] = {}
    for part in spec.strip().split("+"):
        kind, _, settings = (piece.strip() for piece in part.partition(":"))
        if kind == STANDARD and not settings:
            continue
        slot = slot_of.get(kind)
        if slot is None:
            nearest("arm kind", kind, [STANDARD, *(k for k in slot_of if k != STANDARD)])
        if slot in filled:
            raise InvalidPlain(f"Arm {spec[:80]!r} fills the slot {slot} twice; name one kind for it.")
        pairs = settings.split(",") if settings else []
        filled[slot] = {"kind": kind} | dict(_setting(pair, spec) for pair in pairs)
    return filled


def _setting(pair: str, spec: str) -> tuple[str, Any]:
    key, equals, value = (piece.strip() for piece in pair.partition("="))
    if not (key and equals and value):
        raise InvalidPlain(f"Arm {spec[:80]!r} has the setting {pair[:40]!r}; write it as key=value.")
    return key, read_value(value)


def read_value(text: str) -> Any:
    """The JSON value that `text` spells: true, false, a number, or else the text itself."""
    if text in ("true", "false"):
        return text == "true"
    for as_type in (int, float):
        try:
            return as_type(text)
        except ValueError:
            continue
    return text
