"""Residual gains: what a sublayer does to the stream that it is added to."""

from dataclasses import dataclass

from sandbox.live.panels.family import Curve, Panel


@Panel.variants.register("residual gains")
@dataclass(frozen=True, kw_only=True)
class ResidualGainsPanel(Panel):
    """Gain of a sublayer with its stream, and how much of that is the identity path."""

    title = "Residual gains"
    sentence = "How much a sublayer can enlarge a small change; dotted: the identity path."
    how_to_read = (
        "Pre-LN adds to the stream: its identity path is exactly 1, and a change gets through "
        "untouched. Post-LN and DeepNorm normalize the sum, so that the identity path moves with the "
        "norm. Gains are measured from below, for the layer chosen."
    )
    equation = "J = I + J_f (pre),  J_LN (I + J_f) (post),  J_LN (α I + J_f) (DeepNorm)"
    source = "Emadi, arXiv:2602.18849, residual geometry; Wang et al. 2022, arXiv:2203.00555"
    certainty = "A: the three forms; the gains are measured from below"
    order = 70
    place = "third"
    renderer = "curves"
    reading = "residual gains"
    on_demand = True
    section = "Geometry"
    curves = tuple(
        Curve(f"residual gains/{part} {column}", label, style=style, on=part == "attention",
              seeds=style == "solid", group=part)
        for part in ("attention", "feed-forward")
        for column, label, style in (
            ("gain", "gain", "solid"),
            ("minus identity", "without identity", "dashed"),
            ("identity path", "identity path", "dotted"),
        )
    )  # fmt: skip
    unit = "gain"
    log = True
