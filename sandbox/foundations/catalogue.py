"""Catalogue: families, variants and knobs as plain data, for widgets, links and first validation."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from sandbox.foundations.knobs import Knob, check_knob
from sandbox.foundations.registry import nearest


@dataclass(frozen=True)
class KnobEntry:
    """One knob with its default."""

    name: str
    default: Any
    spec: Knob

    def check(self, owner: str, value: Any) -> Any:
        """Return `value` in the knob's kind, or raise InvalidKnob."""
        return check_knob(owner, self.name, self.spec, self.default, value)


@dataclass(frozen=True)
class DeviceEntry:
    """Whether a run can train on the device, and what was found or is missing."""

    available: bool
    sentence: str


@dataclass(frozen=True)
class VariantEntry:
    """One variant: its words, knobs, slots, and the slots that mean nothing in it."""

    kind: str
    title: str
    sentence: str
    equation: str
    source: str
    certainty: str
    our_reading: str
    knobs: dict[str, KnobEntry]
    slots: dict[str, str]
    """Slot name to default kind."""
    not_applicable: dict[str, str]
    """Slot name to reason."""

    def defaults(self) -> dict[str, Any]:
        """The plain form at its defaults, without slots."""
        return {"kind": self.kind} | {name: entry.default for name, entry in self.knobs.items()}


class Catalogue:
    """Typed access to the plain data that `sandbox.experiment.describe` produced."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.schema: int = data["schema"]
        self.slots: tuple[str, ...] = tuple(data["slots"])
        self.arm_kinds: dict[str, str | None] = dict(data["arm_kinds"])
        self.presets: dict[str, dict[str, Any]] = dict(data["presets"])
        self.family_titles: dict[str, str] = dict(data["family_titles"])
        self.pace = _knob_entries(data["pace"])
        self.devices = {name: DeviceEntry(**entry) for name, entry in data["devices"].items()}
        self.families: dict[str, dict[str, VariantEntry]] = {
            family: {kind: _variant_entry(kind, entry) for kind, entry in variants.items()}
            for family, variants in data["families"].items()
        }

    def variant(self, family: str, kind: str) -> VariantEntry:
        """The variant of that kind; UnknownVariant names the nearest one otherwise."""
        variants = self.families[family]
        return variants[kind] if kind in variants else nearest(self.family_titles[family], kind, variants)


def _variant_entry(kind: str, entry: Mapping[str, Any]) -> VariantEntry:
    words = {
        name: entry[name] for name in ("title", "sentence", "equation", "source", "certainty", "our_reading")
    }
    return VariantEntry(
        kind=kind,
        knobs=_knob_entries(entry["knobs"]),
        slots={name: slot["default"] for name, slot in entry["slots"].items()},
        not_applicable=dict(entry["not_applicable"]),
        **words,
    )


def _knob_entries(knobs: Mapping[str, Mapping[str, Any]]) -> dict[str, KnobEntry]:
    names = {f.name for f in fields(Knob)}
    entries = {}
    for name, entry in knobs.items():
        spec = {key: value for key, value in entry.items() if key in names}
        spec["options"] = tuple(spec["options"])
        spec["marks"] = tuple((float(at), str(label)) for at, label in spec["marks"])
        entries[name] = KnobEntry(name, entry["default"], Knob(**spec))
    return entries
