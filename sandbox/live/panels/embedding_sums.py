"""E + P: sums of token and position embeddings."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("E + P")
@dataclass(frozen=True, kw_only=True)
class EmbeddingSums(Panel):
    """Sums of token and position embeddings."""

    title = "E + P"
    sentence = "Every token at every position, before normalization."
    how_to_read = (
        "Points of one position keep the shape that E has; where it lies is P. The numbers name token and "
        "position."
    )
    equation = "E[x] + P[t]"
    source = "Odonnat, Bouaziz and Cabannes, arXiv:2410.24050, the pictures of embeddings"
    certainty = "A: the picture, at width 2; C: wider models are drawn in a plane fitted at the first frame"
    order = 22
    place = "third"
    renderer = "plane"
    reading = "visual weights"
    section = "Embeddings"
    needs = "visual model"
    layers = ("E+P",)
