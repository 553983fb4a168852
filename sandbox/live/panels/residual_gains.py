"""Residual gains: how far one block can carry a small change."""

from dataclasses import dataclass

from sandbox.live.panels.family import Curve, Panel


@Panel.variants.register("residual gains")
@dataclass(frozen=True, kw_only=True)
class ResidualGainsPanel(Panel):
    """Norm of a block's derivative and of its distance from the identity."""

    title = "Residual gains"
    sentence = "How much a block can enlarge a small change; dotted: apart from identity."
    how_to_read = (
        "Pre-LN adds to the stream: a gain near 1 with a small dotted line is that additive path. "
        "Post-LN has none. Norms are measured from below, for the layer chosen."
    )
    equation = "|J| and |J - I| in the norm max_i |x_i|"
    source = "Emadi, arXiv:2602.18849, residual geometry"
    certainty = "B: the identity; the estimates are measured from below"
    order = 70
    place = "third"
    renderer = "curves"
    reading = "residual geometry"
    section = "Geometry"
    curves = (
        Curve("residual geometry/block gain", "|J|"),
        Curve("residual geometry/block minus identity", "|J - I|", style="dotted"),
    )
    facts = (("residual geometry/stream", "stream max |x|/√d"),)
    unit = "gain"
    log = True
