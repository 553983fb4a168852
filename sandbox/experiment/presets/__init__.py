"""Presets: experiments worth starting from, one TOML file each."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from sandbox.foundations.registry import nearest


@dataclass(frozen=True)
class Preset:
    """A named experiment in plain form, and the sentence that says what it shows."""

    name: str
    sentence: str
    order: int
    experiment: dict[str, Any]


@cache
def presets() -> dict[str, Preset]:
    """Every preset by name, in the order a menu lists them."""
    found = [
        Preset(**tomllib.loads(entry.read_text(encoding="utf-8")))
        for entry in files(__name__).iterdir()
        if entry.name.endswith(".toml")
    ]
    return {preset.name: preset for preset in sorted(found, key=lambda preset: preset.order)}


def preset(name: str) -> Preset:
    """The preset of that name; UnknownVariant names the nearest one otherwise."""
    return presets()[name] if name in presets() else nearest("preset", name, list(presets()))
