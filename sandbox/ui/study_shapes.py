"""Shapes: how else than over the steps a reading is drawn in the study, as the live panels draw it."""

from typing import Any

from sandbox.live.panels import Panel
from sandbox.store import Run

BY_LAYER, BESIDE, TREE = "By layer", "Side by side", "Tree"
OF_RENDERER = {"layers": BY_LAYER, "ladder": BESIDE, "tree": TREE}
WITHOUT_HEADS = (BY_LAYER,)
"""Shapes that show every layer at once."""


def shapes_of(kind: str) -> dict[str, type[Panel]]:
    """The shapes of a kind of reading, with the panel that names its columns."""
    panels = [panel for panel in Panel.variants.values() if panel.reading == kind]
    return {OF_RENDERER[panel.renderer]: panel for panel in panels if panel.renderer in OF_RENDERER}


def draw(figures: Any, run: Run, kind: str, shape: str, dark: bool, **moment: Any) -> Any:
    """The drawing of one moment: arm, seed, step, and where it matters layer and head."""
    panel = shapes_of(kind)[shape]
    if shape == TREE:
        return figures.tree_figure(run, kind, **{"layer": 0, "head": 0, **moment}, dark=dark)
    asked = figures.Moment(run=run, kind=kind, columns=panel.table, dark=dark, **moment)
    if shape == BY_LAYER:
        return figures.layers_figure(asked, constants=panel.constants)
    return figures.side_by_side_figure(asked, log=panel.log)
