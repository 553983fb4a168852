"""Theta by layer: the rows of all heads of a layer together."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("theta by layer")
@dataclass(frozen=True, kw_only=True)
class ThetaByLayerPanel(Panel):
    """Quantiles of theta over all rows of a layer, and the dominant-atom regime."""

    title = "θ by layer"
    sentence = "Quantiles of θ over all rows of a layer, and how many have a dominant key."
    how_to_read = (
        "A median near one is automatic while the median row has no dominant key: θ falls below 8/9 "
        "exactly where p_max exceeds 2/3. Look at the lowest tenth and at the share of rows with p_max "
        "above one half."
    )
    equation = "θ(p) = 4 max over S of p(S)(1 - p(S)) ≥ 1 - p_max²"
    source = "Emadi, arXiv:2602.18849"
    certainty = "A: the formula; C: the closed forms and searches that bracket it"
    order = 64
    place = "third"
    renderer = "layers"
    reading = "theta by layer"
    on_demand = True
    section = "Sensitivity"
    unit = "θ"
    table = (
        ("theta by layer/lower, 10 %", "θ, lowest tenth below"),
        ("theta by layer/lower, 25 %", "θ, lowest quarter below"),
        ("theta by layer/lower, median", "θ, median"),
        ("theta by layer/lower, 90 %", "θ, highest tenth above"),
        ("theta by layer/median p_max", "p_max, median"),
        ("theta by layer/share p_max > 1/2", "share with p_max > ½"),
        ("theta by layer/share exact", "share of rows exact"),
        ("theta by layer/normalized entropy", "flatness of attention"),
    )
