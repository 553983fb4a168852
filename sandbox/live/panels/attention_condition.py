"""Condition of attention: how much of a pattern over the tokens survives mixing."""

from dataclasses import dataclass

from sandbox.live.panels.family import Curve, Panel


@Panel.variants.register("attention condition")
@dataclass(frozen=True, kw_only=True)
class AttentionConditionPanel(Panel):
    """Kappa of the attention matrices of the chosen head."""

    title = "Condition κ(P)"
    sentence = "How unevenly a head's attention mixes its tokens: 1 keeps every pattern."
    how_to_read = (
        "Large or infinite means that different patterns over the tokens come out nearly the same. The "
        "identity has κ 1 as well, so that a low value can mean that attention is switched off: read "
        "it beside entropy and self-attention mass. Singular matrices stand on the rail at ∞."
    )
    equation = "κ(P) = σ_1(P) / σ_N(P), of each sequence, as a middle over sequences"
    source = "Saratchandran and Lucey, arXiv:2603.07162, Eq. 10 (the term κ(P))"
    certainty = "A: the definition; D: how the authors averaged"
    our_reading = "Median and geometric mean, never the arithmetic mean, which has no stable value."
    order = 55
    place = "third"
    renderer = "curves"
    reading = "attention condition"
    section = "Conditioning"
    curves = (
        Curve("attention condition/median", "median"),
        Curve("attention condition/geometric mean", "geometric mean", on=False),
    )
    facts = (("attention condition/share singular", "% singular"),)
    one_at_a_time = True
    unit = "ratio"
    log = True
