"""Knobs: dataclass fields that carry their own bounds, label and help, declared once."""

import math
import re
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, ClassVar

from sandbox.foundations.errors import InvalidKnob
from sandbox.foundations.typed_text import shown


@dataclass(frozen=True, kw_only=True)
class Knob:
    """The bounds that validate a field, and the words that label its widget."""

    label: str
    low: float | None = None
    high: float | None = None
    step: float | None = None
    options: tuple[str, ...] = ()
    pattern: str = ""
    """For text that is typed, not chosen: the regular expression that all of it matches."""
    help: str = ""
    marks: tuple[tuple[float, str], ...] = ()
    """Values worth naming beside the widget, such as (10.0, "paper")."""
    live: bool = False
    """True where the value may change during a run; every change is then an event."""
    expert: bool = False
    """True where a beginner's view keeps the knob closed."""


def knob(default: Any, label: str, **spec: Any) -> Any:
    """Declare a field once; validation, widgets, links, the CLI and docs read it from here.

    The default's type (bool, int, float, str) is the field's kind; a str needs `options` or a `pattern`.
    """
    return field(default=default, metadata={"knob": Knob(label=label, **spec)})


def check_knob(owner: str, name: str, spec: Knob, default: Any, value: Any) -> Any:
    """Return `value` in the knob's own kind, or raise InvalidKnob in one clear sentence."""
    where = f"{owner}.{name} ({spec.label})"
    given = shown(value)
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise InvalidKnob(f"{where} is {given}; it must be true or false.")
        return value
    if isinstance(default, str) and spec.pattern:
        if not isinstance(value, str) or not re.fullmatch(spec.pattern, value):
            raise InvalidKnob(f"{where} is {given}; it must be a text of the form {spec.pattern}.")
        return value
    if isinstance(default, str):
        if not isinstance(value, str) or value not in spec.options:
            raise InvalidKnob(f"{where} is {given}; choose one of {', '.join(spec.options)}.")
        return value
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if isinstance(default, int):
        if not number or (isinstance(value, float) and not value.is_integer()):
            raise InvalidKnob(f"{where} is {given}; it must be a whole number {_range(spec)}.")
        value = int(value)
    else:
        try:
            finite = number and math.isfinite(float(value))
        except OverflowError:
            finite = False
        if not finite:
            raise InvalidKnob(f"{where} is {given}; it must be a finite number {_range(spec)}.")
        value = float(value)
    if (spec.low is not None and value < spec.low) or (spec.high is not None and value > spec.high):
        raise InvalidKnob(f"{where} is {given}; it must lie {_range(spec)}.")
    return value


def _range(spec: Knob) -> str:
    if spec.low is None and spec.high is None:
        return "of any size"
    return f"between {spec.low:g} and {spec.high:g}" if spec.high is not None else f"of at least {spec.low:g}"


@dataclass(frozen=True, kw_only=True)
class Knobs:
    """Base of every settings object: immutable, hashable, and valid once it exists."""

    kind: ClassVar[str] = ""

    def __post_init__(self) -> None:
        owner = self.kind or type(self).__name__.lower()
        for f, spec in knob_fields(type(self)):
            object.__setattr__(
                self, f.name, check_knob(owner, f.name, spec, f.default, getattr(self, f.name))
            )

    @classmethod
    def knobs(cls) -> dict[str, Knob]:
        """The knobs by field name, in the order they are written."""
        return {f.name: spec for f, spec in knob_fields(cls)}


def knob_fields(cls: type[Knobs]) -> list[tuple[Field[Any], Knob]]:
    """The fields of `cls` that are knobs, each with its specification."""
    return [(f, f.metadata["knob"]) for f in fields(cls) if "knob" in f.metadata and f.default is not MISSING]
