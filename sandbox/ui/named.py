"""Named: curves, readings and settings in the words of the catalogue instead of the keys they have."""

from collections.abc import Mapping
from typing import Any

from sandbox.foundations.catalogue import Catalogue, KnobEntry
from sandbox.foundations.errors import SandboxError
from sandbox.store.card import ORIGIN
from sandbox.ui import choices
from sandbox.ui.changes import shown

CURVES = {
    "loss": "Batch loss",
    "train_loss": "Training loss",
    "test_loss": "Held-out loss",
    "train_accuracy": "Training accuracy",
    "test_accuracy": "Held-out accuracy",
}
CIRCUMSTANCES = {
    "seeds": "Seeds",
    "arms": "Arms",
    "engine": "Engine",
    "device": "Device",
    ORIGIN: "Goes on from",
}
MODEL = "model"


def metric_title(metric: str) -> str:
    """`test_accuracy` is the held-out accuracy, `theta/lower` the column of a diagnostic with a title."""
    kind, _, rest = metric.partition("/")
    if kind in CURVES:
        return CURVES[kind] + (f", {rest.rpartition('/')[2]}" if rest else "")
    if not rest:
        return metric
    try:
        known = choices.catalogue().families.get("diagnostic", {})
    except SandboxError:
        known = {}
    return f"{known[kind].title if kind in known else kind}: {rest}"


def within(title: str) -> str:
    """A title in the midst of a sentence."""
    return title[:1].lower() + title[1:]


def setting_title(name: str) -> str:
    """`optimizer.learning_rate` by the label of its knob, after the family that it belongs to."""
    try:
        catalogue = choices.catalogue()
    except SandboxError:
        return CIRCUMSTANCES.get(name, name)
    if name in catalogue.pace:
        return catalogue.pace[name].spec.label
    family, knob = _place(catalogue, name)
    if family is None:
        return CIRCUMSTANCES.get(name, name[:1].upper() + name[1:])
    title = catalogue.family_titles[family].capitalize()
    found = _knob(catalogue, family, knob)
    return title if not knob else f"{title}: {within(found.spec.label) if found else knob}"


def setting_value(name: str, value: Any) -> str:
    """A setting's value; the title of a variant in place of its kind."""
    if value is None:
        return "—"
    try:
        catalogue = choices.catalogue()
    except SandboxError:
        return shown(value)
    family, knob = _place(catalogue, name)
    variants = catalogue.families.get(family or "", {})
    return (
        variants[value].title if not knob and isinstance(value, str) and value in variants else shown(value)
    )


def said_settings(values: Mapping[str, Any]) -> str:
    """Several settings in one line, such as those of a point of a sweep."""
    labels = {key: within(setting_title(key).rpartition(": ")[2]) for key in values}
    return ", ".join(f"{labels[key]} {setting_value(key, value)}" for key, value in values.items())


def _place(catalogue: Catalogue, name: str) -> tuple[str | None, str]:
    """The family of a dotted key and what stands behind it; (None, ...) for what belongs to none."""
    first, _, rest = name.partition(".")
    if first != MODEL:
        return (first, rest) if first in catalogue.families else (None, name)
    slot, _, knob = rest.partition(".")
    return (slot, knob) if slot in catalogue.slots else ("architecture", rest)


def _knob(catalogue: Catalogue, family: str, knob: str) -> KnobEntry | None:
    found = (entry.knobs.get(knob) for entry in catalogue.families[family].values())
    return next((entry for entry in found if entry is not None), None)
