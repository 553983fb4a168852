"""Idea: what every registered variant says of itself, so that menus, docs and links follow from it."""

from dataclasses import dataclass
from typing import ClassVar

from sandbox.foundations.knobs import Knobs


@dataclass(frozen=True, kw_only=True)
class Idea(Knobs):
    """Base of all variants: settings plus the words and the source that stand beside them."""

    title: ClassVar[str]
    sentence: ClassVar[str]
    """What it does, in one sentence for a newcomer."""
    equation: ClassVar[str]
    source: ClassVar[str]
    """Paper and equation, or the library whose behaviour it is."""
    certainty: ClassVar[str]
    """How sure we are that this is the paper's method: "A", "B", "C" or "D", then why."""
    our_reading: ClassVar[str] = ""
    """What the papers leave open and how we read it; empty where nothing is open."""
