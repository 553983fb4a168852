"""Attention Jacobian: how unevenly a head answers to changes of its matrices."""

from dataclasses import dataclass

from sandbox.live.panels.family import Curve, Panel


@Panel.variants.register("attention jacobian")
@dataclass(frozen=True, kw_only=True)
class AttentionJacobianPanel(Panel):
    """Kappa of the Jacobian over its structural ceiling, its effective kappa, and rank."""

    title = "Condition κ(J)"
    sentence = "How unevenly a head's output answers to its three matrices."
    how_to_read = (
        "Middles over samples of κ over the leading singular values that the structure allows, R of "
        "them. Where J has lost rank beyond that, κ is infinite and stands on the rail; the line below "
        "says rank r of R. κ_eff leaves the lost directions out. “The paper's estimate” is its product of "
        "condition numbers (Eq. 10) with the smallest singular value above zero: κ may lie above it or "
        "below, so it proves nothing. A low value can also mean that attention is switched off: look at "
        "entropy and self-attention mass."
    )
    equation = "J = [∂A/∂W_Q, ∂A/∂W_K, ∂A/∂W_V],  κ = σ_1 / σ_R,  κ_eff = σ_1 / σ_r"
    source = "Saratchandran and Lucey, arXiv:2603.07162, Thm 3.4 and Eq. 10"
    certainty = "A: the Jacobian; C: its structural rank; D: how the authors averaged"
    our_reading = (
        "Of the head's output before any output conditioning; median and geometric mean over samples, "
        "never the arithmetic mean."
    )
    order = 56
    place = "wide"
    renderer = "curves"
    reading = "attention jacobian"
    on_demand = True
    section = "Conditioning"
    curves = (
        Curve("attention jacobian/median", "κ over R"),
        Curve("attention jacobian/geometric mean", "geometric mean", style="dashed", on=False, seeds=False),
        Curve("attention jacobian/kappa_eff", "κ_eff", style="dashed", on=False, seeds=False),
        Curve(
            "attention jacobian/the paper's expression (Eq. 10 with kappa_+), no bound",
            "the paper's estimate",
            style="dotted",
            on=False,
            seeds=False,
        ),
    )
    facts = (
        ("attention jacobian/median", "κ"),
        ("attention jacobian/rank", "rank"),
        ("attention jacobian/ceiling", "of"),
        ("attention jacobian/share infinite", "% infinite"),
        ("attention jacobian/smallest non-zero", "smallest non-zero σ"),
    )
    unit = "ratio"
    log = True
