"""Probabilities: answers on the probability simplex."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("answers")
@dataclass(frozen=True, kw_only=True)
class AnswerSimplex(Panel):
    """Answers on the probability simplex."""

    title = "Probabilities"
    sentence = "Each sequence's probabilities: corners are certain answers."
    how_to_read = (
        "With two classes the simplex is a line, drawn once per class so that dots do not cover each other; "
        "with three a triangle; with more, classes stand on a circle and a dot is their weighted mean."
    )
    equation = "p = softmax(E h), a point of the simplex"
    source = "Odonnat, Bouaziz and Cabannes, arXiv:2410.24050, the pictures of embeddings"
    certainty = "A: the picture, at width 2; C: wider models are drawn in a plane fitted at the first frame"
    order = 61
    place = "third"
    renderer = "simplex"
    reading = "visual weights"
    section = "Answers"
    needs = "visual model"
