"""Arms: the SPECs that name them, and which of an experiment's arms the menu's checkboxes stand for."""

from typing import Any

from sandbox.foundations.catalogue import Catalogue, VariantEntry
from sandbox.foundations.spec import STANDARD, read_spec
from sandbox.ui.settings import Plain, arm_plain


def parse_arm(catalogue: Catalogue, spec: str) -> Plain:
    """Read `kind:key=value,key=value`, several joined by `+`; the arm's name is the SPEC as typed.

    Raises a SandboxError for an unknown kind or key, a value out of range, or a slot filled twice.
    """
    return arm_plain(catalogue, {"name": spec.strip()} | read_spec(spec, catalogue.arm_kinds))


def spec_of(catalogue: Catalogue, arm: Plain) -> str:
    """The shortest SPEC that says what `arm` changes: main knobs always, expert ones where changed."""
    parts = []
    for slot in catalogue.slots:
        if slot in arm:
            entry = catalogue.variant(slot, arm[slot]["kind"])
            shown = [
                f"{name}={_written(arm[slot][name])}"
                for name, knob in entry.knobs.items()
                if not knob.spec.expert or arm[slot][name] != knob.default
            ]
            parts.append(arm[slot]["kind"] + (":" + ",".join(shown) if shown else ""))
    return "+".join(parts) or STANDARD


def menu(catalogue: Catalogue, model: Plain) -> list[tuple[str, VariantEntry, str]]:
    """What the menu offers beside `standard`: (slot, variant, reason); a reason says why it cannot be on.

    Every variant of every slot, except the one that the base model has in that slot already.
    """
    entry = catalogue.variant("architecture", model["kind"])
    offered = []
    for slot in catalogue.slots:
        present = model[slot]["kind"] if slot in entry.slots else default_kind(catalogue, slot)
        reason = entry.not_applicable.get(slot, "")
        if not reason and slot not in entry.slots:
            reason = f"The model {entry.title} has no such part."
        for kind, found in catalogue.families[slot].items():
            if kind != present:
                offered.append((slot, found, reason))
    return offered


def default_kind(catalogue: Catalogue, slot: str) -> str:
    """The kind that a model with this slot starts with."""
    starts = (entry.slots.get(slot) for entry in catalogue.families["architecture"].values())
    return next((kind for kind in starts if kind), "")


def stands_for(arm: Plain, slot: str, kind: str) -> bool:
    """Whether `arm` changes nothing but `slot`, to `kind`."""
    return set(arm) == {"name", slot} and arm[slot]["kind"] == kind


def is_standard(arm: Plain) -> bool:
    """Whether `arm` changes nothing."""
    return set(arm) == {"name"}


def applicable(catalogue: Catalogue, model: Plain, arm: Plain) -> bool:
    """Whether everything that `arm` changes exists in `model`."""
    slots = catalogue.variant("architecture", model["kind"]).slots
    return all(slot in slots for slot in arm if slot != "name")


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)
