"""Multi-head bound: what is proved of an attention layer beside what it does."""

from dataclasses import dataclass

from sandbox.live.panels.family import Curve, Panel


@Panel.variants.register("multi-head bound")
@dataclass(frozen=True, kw_only=True)
class MultiHeadBoundPanel(Panel):
    """The proved Lipschitz bound and a measured lower estimate of the operator norm."""

    title = "Attention bound"
    sentence = "An attention layer's measured gain, and dotted the bound that is proved."
    how_to_read = (
        "The true norm lies between the two lines, usually far below the bound. Both are at the same "
        "tokens, the largest over the samples."
    )
    equation = "L ≤ |W_O| Σ_h ( |W_V^h| + (θ_h/τ) Φ_h )"
    source = "Emadi, arXiv:2602.18849, multi-head bound"
    certainty = "A: the form of the bound; C: Φ_h, derived here"
    our_reading = "Φ_h = 2 d R² |W_Q||W_K||W_V|, with R the stream's norm; the paper's own Φ_h is not public."
    order = 71
    place = "third"
    renderer = "curves"
    reading = "residual geometry"
    on_demand = True
    section = "Geometry"
    curves = (
        Curve("residual geometry/attention at least", "at least"),
        Curve("residual geometry/attention bound", "bound", style="dotted", seeds=False),
    )
    unit = "norm"
    log = True
