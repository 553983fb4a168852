"""Assemblers: assemblers: columns of the second feed-forward matrix."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("assemblers")
@dataclass(frozen=True, kw_only=True)
class Assemblers(Panel):
    """Assemblers: columns of the second feed-forward matrix."""

    title = "Assemblers"
    sentence = "A neuron's column of W₂: where it pushes the sequence when awake."
    how_to_read = (
        "A mark has the size of its neuron's mean activity on the probe. Receptors and assemblers together "
        "say which directions are pushed where."
    )
    equation = "columns of W₂"
    source = "Odonnat, Bouaziz and Cabannes, arXiv:2410.24050, the pictures of embeddings"
    certainty = "A: the picture, at width 2; C: wider models are drawn in a plane fitted at the first frame"
    order = 52
    place = "third"
    renderer = "plane"
    reading = "visual weights"
    section = "Feed-forward part"
    needs = "visual model"
    layers = ("assemblers",)
