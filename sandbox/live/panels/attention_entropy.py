"""Attention entropy: how widely a head spreads its attention."""

from dataclasses import dataclass

from sandbox.live.panels.family import Curve, Panel


@Panel.variants.register("attention entropy")
@dataclass(frozen=True, kw_only=True)
class AttentionEntropyPanel(Panel):
    """Entropy of attention rows for the chosen head."""

    title = "Attention entropy"
    sentence = "How widely the chosen head looks: 0 is a single token, ln(keys) is all alike."
    how_to_read = (
        "A falling line is a head that makes up its mind. Low entropy does not mean a low θ: half on each of "
        "two tokens has entropy ln 2 and θ = 1. Masked keys do not count. A self-attention mass near 1 says "
        "that tokens look only at themselves."
    )
    equation = "H = -Σ pⱼ ln pⱼ, mean over the probe's rows"
    source = "Shannon 1948, section 6; read beside θ in Emadi, arXiv:2602.18849"
    certainty = "A"
    order = 4
    place = "third"
    renderer = "curves"
    reading = "attention entropy"
    curves = (Curve("attention entropy/entropy", "entropy"),)
    facts = (("attention entropy/self-attention mass", "self-attention mass"),)
    unit = "nats"
