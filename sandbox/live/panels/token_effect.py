"""Token effect: how far exchanging a token moves the sequence embedding."""

from dataclasses import dataclass

from sandbox.live.panels.family import Curve, Panel


@Panel.variants.register("token effect")
@dataclass(frozen=True, kw_only=True)
class TokenEffectPanel(Panel):
    """Share of the effect, and of attention, that lies on the deciding prefix."""

    title = "Token effect"
    sentence = "The deciding prefix's share of what moves ξ; dotted: its attention."
    how_to_read = (
        "At 1 the model is blind to the tokens that decide nothing, be it through attention or because "
        "their embeddings have drawn together: then the dotted line stays below."
    )
    equation = "a_t |V(z_t(0) - z_t(1))| at position t"
    source = "Odonnat, Bouaziz and Cabannes, arXiv:2410.24050"
    certainty = "C: our measure"
    order = 84
    place = "third"
    renderer = "curves"
    reading = "token effect"
    section = "Training dynamics"
    needs = "visual model"
    curves = (
        Curve("token effect/prefix share", "effect"),
        Curve("token effect/prefix mass", "attention", style="dotted", seeds=False),
    )
    unit = "share"
    bounds = (0.0, 1.0)
