"""Layer norms: how steep each one is, and whether it contracts."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("layer norms")
@dataclass(frozen=True, kw_only=True)
class LayerNormsPanel(Panel):
    """Bound and norm of every layer norm's Jacobian, and their product."""

    title = "Layer norms"
    sentence = "Bound and norm of each layer norm's Jacobian; below 1 it contracts."
    how_to_read = (
        "Where the bound is below 1 at every sublayer the layer norms alone shrink every change; a "
        "token of little spread makes its norm steep. The condition is sufficient, not necessary, and "
        "read on the probe. The product is of the bounds of all norms up to a layer."
    )
    equation = "J = diag(γ)/σ (I - 11ᵀ/d - x̂ x̂ᵀ/d),  |J| ≤ |γ|∞/σ ≤ ρ < 1;  α = (2N)^¼"
    source = "Emadi, arXiv:2602.18849, LayerNorm geometry"
    certainty = "B: the Jacobian and its bound; D: the paper's own condition, untested"
    order = 72
    place = "third"
    renderer = "layers"
    reading = "layer norms"
    on_demand = True
    section = "Geometry"
    unit = "norm of J"
    table = (
        ("layer norms/attention bound", "attention: |γ|∞/σ"),
        ("layer norms/attention norm", "attention: |J|"),
        ("layer norms/attention contracts", "attention: contracts"),
        ("layer norms/feed-forward bound", "feed-forward: |γ|∞/σ"),
        ("layer norms/feed-forward norm", "feed-forward: |J|"),
        ("layer norms/feed-forward contracts", "feed-forward: contracts"),
        ("layer norms/product so far", "product of the bounds so far"),
    )
