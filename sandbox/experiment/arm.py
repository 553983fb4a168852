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
from sandbox.foundations.registry import Registry, nearest
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

STANDARD = "standard"
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
    changes: dict[str, Idea] = {}
    kinds = arm_kinds()
    for part in spec.strip().split("+"):
        kind, _, settings = (piece.strip() for piece in part.partition(":"))
        if kind == STANDARD and not settings:
            continue
        if kind not in kinds:
            nearest("arm kind", kind, [STANDARD, *kinds])
        slot = kinds[kind]
        if slot in changes:
            raise InvalidPlain(f"Arm {spec[:80]!r} fills the slot {slot} twice; name one kind for it.")
        plain = dict(_setting(pair, spec) for pair in settings.split(",")) if settings else {}
        changes[slot] = from_plain(SLOTS[slot][kind], plain)
    return arm_from_plain(Arm(spec.strip(), changes).to_plain())


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
