"""Output levels: level lines of the read-out over the outputs."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("output level lines")
@dataclass(frozen=True, kw_only=True)
class OutputLevelLines(Panel):
    """Level lines of the read-out over the outputs."""

    title = "Output levels"
    sentence = "h over the level lines of the read-out; crosses are the rows of E."
    how_to_read = (
        "The read-out is linear: with two classes the border is a straight line, and a sequence on its "
        "class's side is answered right."
    )
    equation = "p(y | h) = softmax(E h)"
    source = "Odonnat, Bouaziz and Cabannes, arXiv:2410.24050, the pictures of embeddings"
    certainty = "A: the picture, at width 2; C: wider models are drawn in a plane fitted at the first frame"
    order = 60
    place = "third"
    renderer = "plane"
    reading = "visual weights"
    section = "Answers"
    needs = "visual model"
    layers = ("h", "E")
    levels = "output"
