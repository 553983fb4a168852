"""Residual geometry by layer: the additive identity as numbers."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("residual norms")
@dataclass(frozen=True, kw_only=True)
class ResidualNormsPanel(Panel):
    """Norms of the stream and of every block, layer by layer."""

    title = "Geometry by layer"
    sentence = "The stream's size, each block's gain and its distance from the identity."
    how_to_read = (
        "In pre-LN a block is the identity plus a small part: gain near 1, distance small. Post-LN "
        "normalizes the sum, so that this identity is gone. The bound is proved, the other norms are "
        "measured from below."
    )
    equation = "|X| = max_i |x_i|/√d,  |J|,  |J - I|"
    source = "Emadi, arXiv:2602.18849, residual geometry"
    certainty = "B: the identity; the estimates are measured from below"
    order = 73
    place = "third"
    renderer = "layers"
    reading = "residual geometry"
    on_demand = True
    section = "Geometry"
    unit = "norm"
    table = (
        ("residual geometry/stream", "stream, max |x|/√d"),
        ("residual geometry/block gain", "block gain |J|"),
        ("residual geometry/block minus identity", "block minus identity |J - I|"),
        ("residual geometry/attention at least", "attention, at least"),
        ("residual geometry/attention bound", "attention, bound"),
    )
