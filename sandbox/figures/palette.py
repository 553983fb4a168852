"""The palette: colour, dash and marker of each arm, the same on every page, figure and export."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

PALETTE = Path(__file__).resolve().parents[2] / "assets" / "palette.json"


@dataclass(frozen=True)
class Style:
    """How one arm or group of points is drawn."""

    colour: str
    dash: str = "solid"
    symbol: str = "circle"

    def faded(self, opacity: float) -> str:
        """The colour with an opacity, for bands and thin lines."""
        red, green, blue = (int(self.colour[i : i + 2], 16) for i in (1, 3, 5))
        return f"rgba({red},{green},{blue},{opacity})"


@cache
def _palette() -> dict[str, Any]:
    return dict(json.loads(PALETTE.read_text(encoding="utf-8")))


def arm_style(index: int, dark: bool) -> Style:
    """The style of the arm at `index` in its experiment; the palette starts again after its last."""
    arms = _palette()["arms"]
    arm = arms[index % len(arms)]
    return Style(arm["dark" if dark else "light"], arm["plotly_dash"], arm["marker"])


def group_style(index: int, dark: bool) -> Style:
    """The style of a group of points, such as a class."""
    groups = _palette()["groups"]
    symbols = [arm["marker"] for arm in _palette()["arms"]]
    return Style(
        groups[index % len(groups)]["dark" if dark else "light"], symbol=symbols[index % len(symbols)]
    )


def sequential(dark: bool) -> list[tuple[float, str]]:
    """The scale of attention, one hue from none to all."""
    stops = _palette()["sequential"]["dark" if dark else "light"]
    return [(i / (len(stops) - 1), colour) for i, colour in enumerate(stops)]
