"""Shape of attention: how flat it is, and how much of it stays on the own token."""

from dataclasses import dataclass

from sandbox.live.panels.family import Curve, Panel


@Panel.variants.register("attention shape")
@dataclass(frozen=True, kw_only=True)
class AttentionShapePanel(Panel):
    """Normalized entropy and self-attention mass of the chosen head."""

    title = "Flatness and self"
    sentence = "Normalized entropy, and dotted the weight of a token on itself."
    how_to_read = (
        "1 is attention spread evenly over the visible keys, 0 a single key. Entropy near 0 with a "
        "self-attention mass near 1 means that attention is switched off, which also makes condition "
        "numbers small."
    )
    equation = "H(p) / ln(visible keys),  mean of P_nn"
    source = "entropy: Zhai et al. 2023, arXiv:2303.06296; self-attention mass: the diagonal of P"
    certainty = "A: the definitions"
    our_reading = "Rows with one visible key are left out of the normalized entropy."
    order = 62
    place = "third"
    renderer = "curves"
    reading = "attention entropy"
    section = "Sensitivity"
    curves = (
        Curve("attention entropy/normalized entropy", "flatness"),
        Curve("attention entropy/self-attention mass", "self", style="dotted", seeds=False),
    )
    unit = "share"
    bounds = (0.0, 1.0)
