"""Arm: one named variant, the base model with some of its slots replaced."""

from dataclasses import dataclass, field
from typing import Any

from sandbox.attention import Mechanism
from sandbox.conditioning.output import OutputConditioning
from sandbox.conditioning.projection import ProjectionConditioning
from sandbox.conditioning.query_key import QueryKeyNormalization
from sandbox.conditioning.temperature import Temperature
from sandbox.conditioning.tokens import TokenConditioning
from sandbox.foundations.errors import InvalidPlain
from sandbox.foundations.idea import Idea
from sandbox.foundations.plain import from_plain, to_plain, variant_from_plain
from sandbox.foundations.registry import Registry
from sandbox.foundations.spec import read_spec
from sandbox.foundations.typed_text import shown
from sandbox.initialization import Initialization
from sandbox.models.placement import Placement

SLOTS: dict[str, Registry[Any]] = {
    "tokens": TokenConditioning.variants,
    "mechanism": Mechanism.variants,
    "projection": ProjectionConditioning.variants,
    "qk": QueryKeyNormalization.variants,
    "temperature": Temperature.variants,
    "output": OutputConditioning.variants,
    "initialization": Initialization.variants,
    "placement": Placement.variants,
}
"""The slots an arm may fill, in the order of the forward pass."""

MAX_NAME = 120


@dataclass(frozen=True)
class Arm:
    """A name and the slots it fills; no slots is the standard arm."""

    name: str
    changes: dict[str, Idea] = field(default_factory=dict)

    def to_plain(self) -> dict[str, Any]:
        """The name, and each filled slot with its kind and knobs."""
        return {"name": self.name} | {slot: to_plain(variant) for slot, variant in self.changes.items()}


def arm_from_plain(plain: Any) -> Arm:
    """Build an arm from {"name": ..., slot: {"kind": ...}}; a text is read as a SPEC."""
    if isinstance(plain, str):
        return parse_arm(plain)
    if not isinstance(plain, dict) or not isinstance(plain.get("name"), str):
        raise InvalidPlain(f"An arm is {shown(plain)}; it must be a table with a text 'name'.")
    if not 0 < len(plain["name"]) <= MAX_NAME or not plain["name"].isprintable():
        raise InvalidPlain(
            f"An arm's name is {plain['name'][:40]!r}...; use 1 to {MAX_NAME} printable characters."
        )
    unknown = [key for key in plain if key != "name" and key not in SLOTS]
    if unknown:
        raise InvalidPlain(
            f"Arm {plain['name']!r} has no slot {shown(unknown[0])}; it has {', '.join(SLOTS)}."
        )
    where = f"arm {plain['name']!r}"
    return Arm(
        plain["name"],
        {
            slot: variant_from_plain(SLOTS[slot], plain[slot], f"{where}, {slot}")
            for slot in SLOTS
            if slot in plain
        },
    )


def arm_kinds() -> dict[str, str]:
    """Every kind an arm SPEC may name, with the slot it fills."""
    return {kind: slot for slot, registry in SLOTS.items() for kind in registry}


def parse_arm(spec: str) -> Arm:
    """Read `kind:key=value,key=value`, several joined by `+`; the arm's name is the SPEC as typed."""
    filled = read_spec(spec, arm_kinds())
    changes = {slot: from_plain(SLOTS[slot][plain["kind"]], plain) for slot, plain in filled.items()}
    return arm_from_plain(Arm(spec.strip(), changes).to_plain())
