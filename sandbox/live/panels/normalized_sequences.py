"""Normalized ξ: normalized sequence embeddings."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("normalized ξ")
@dataclass(frozen=True, kw_only=True)
class NormalizedSequences(Panel):
    """Normalized sequence embeddings."""

    title = "Normalized ξ"
    sentence = "What the feed-forward part sees: ξ on the circle of radius √d."
    how_to_read = (
        "Near the origin a small move of ξ turns its direction much: loss spikes come from sequences whose "
        "|ξ| is small."
    )
    equation = "RMS(ξ)"
    source = "Odonnat, Bouaziz and Cabannes, arXiv:2410.24050, the pictures of embeddings"
    certainty = "A: the picture, at width 2; C: wider models are drawn in a plane fitted at the first frame"
    order = 50
    place = "third"
    renderer = "plane"
    reading = "visual weights"
    section = "Feed-forward part"
    needs = "visual model"
    layers = ("nxi",)
