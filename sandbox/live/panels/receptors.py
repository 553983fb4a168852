"""Receptors: receptors: rows of the first feed-forward matrix."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("receptors")
@dataclass(frozen=True, kw_only=True)
class Receptors(Panel):
    """Receptors: rows of the first feed-forward matrix."""

    title = "Receptors"
    sentence = "A neuron's row of W₁: the direction of ξ that wakes it."
    how_to_read = (
        "Larger marks are neurons that the probe sequences wake more on average. Directions without neurons "
        "cannot be told apart from their neighbours."
    )
    equation = "rows of W₁"
    source = "Odonnat, Bouaziz and Cabannes, arXiv:2410.24050, the pictures of embeddings"
    certainty = "A: the picture, at width 2; C: wider models are drawn in a plane fitted at the first frame"
    order = 51
    place = "third"
    renderer = "plane"
    reading = "visual weights"
    section = "Feed-forward part"
    needs = "visual model"
    layers = ("receptors",)
