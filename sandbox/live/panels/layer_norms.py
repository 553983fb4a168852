"""Layer norms: how steep each one is, and whether it contracts."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("layer norms")
@dataclass(frozen=True, kw_only=True)
class LayerNormsPanel(Panel):
    """Bound and norm of every layer norm's Jacobian, and DeepNorm's constants."""

    title = "Layer norms"
    sentence = "Bound and norm of each layer norm's Jacobian; below 1 it contracts."
    how_to_read = (
        "Where the bound is below 1 at every sublayer the layer norms alone shrink every change; a "
        "token of little spread makes its norm steep. The condition is sufficient, not necessary, and "
        "read on the probe. DeepNorm's two numbers depend on the number of layers alone; whether this "
        "arm uses them stands below."
    )
    equation = "J = diag(γ)/σ (I - 11ᵀ/d - x̂ x̂ᵀ/d),  |J| ≤ |γ|∞/σ ≤ ρ < 1;  α = (2N)^¼"
    source = "Emadi, arXiv:2602.18849; DeepNorm: Wang et al. 2022, arXiv:2203.00555"
    certainty = "B: the Jacobian and its bound; A: DeepNorm; D: the paper's own condition, untested"
    order = 72
    place = "third"
    renderer = "layers"
    reading = "layer norms"
    section = "Geometry"
    unit = "norm of J"
    constants = True
    table = (
        ("layer norms/attention bound", "attention: |γ|∞/σ"),
        ("layer norms/attention norm there", "attention: |J| there"),
        ("layer norms/attention contracts", "attention: contracts"),
        ("layer norms/feed-forward bound", "feed-forward: |γ|∞/σ"),
        ("layer norms/feed-forward norm there", "feed-forward: |J| there"),
        ("layer norms/feed-forward contracts", "feed-forward: contracts"),
    )
