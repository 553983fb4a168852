"""Output h: feed-forward output, alone and with the residual."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("FFN output")
@dataclass(frozen=True, kw_only=True)
class FeedForwardOutput(Panel):
    """Feed-forward output, alone and with the residual."""

    title = "Output h"
    sentence = "Hollow: the feed-forward part alone. Filled: with ξ added."
    how_to_read = (
        "The residual sum is what the answer is read from; a thin line joins the two of one sequence."
    )
    equation = "h = ξ + W₂ gelu(W₁ RMS(ξ) + b₁) + b₂"
    source = "Odonnat, Bouaziz and Cabannes, arXiv:2410.24050, the pictures of embeddings"
    certainty = "A: the picture, at width 2; C: wider models are drawn in a plane fitted at the first frame"
    order = 53
    place = "third"
    renderer = "plane"
    reading = "visual weights"
    section = "Feed-forward part"
    needs = "visual model"
    layers = ("ffn", "h")
