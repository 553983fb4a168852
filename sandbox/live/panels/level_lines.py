"""Level lines of p: level lines of the answer over sequence embeddings."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("level lines")
@dataclass(frozen=True, kw_only=True)
class LevelLines(Panel):
    """Level lines of the answer over sequence embeddings."""

    title = "Level lines of p"
    sentence = "What the rest of the model would answer anywhere in the plane of ξ."
    how_to_read = (
        "Colours are the most probable class, stronger where it is surer; lines mark p = 0.5, 0.75 and 0.9 "
        "of it. Learning bends the lines around the clusters."
    )
    equation = "p(y | ξ) = softmax(E h(ξ))"
    source = "Odonnat, Bouaziz and Cabannes, arXiv:2410.24050, the pictures of embeddings"
    certainty = "A: the picture, at width 2; C: wider models are drawn in a plane fitted at the first frame"
    order = 41
    place = "third"
    renderer = "plane"
    reading = "visual weights"
    section = "Sequence embeddings"
    needs = "visual model"
    layers = ("xi",)
    levels = "xi"
