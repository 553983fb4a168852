"""Sequences ξ: sequence embeddings by class."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("sequence embeddings")
@dataclass(frozen=True, kw_only=True)
class SequenceEmbeddings(Panel):
    """Sequence embeddings by class."""

    title = "Sequences ξ"
    sentence = "A dot is a probe sequence after attention, coloured by its class."
    how_to_read = (
        "A clustering head puts all sequences with the same prefix, up to its order, on one point. “your "
        "sequence” is the star."
    )
    equation = "ξ = Σₜ aₜ V zₜ"
    source = "Odonnat, Bouaziz and Cabannes, arXiv:2410.24050, the pictures of embeddings"
    certainty = "A: the picture, at width 2; C: wider models are drawn in a plane fitted at the first frame"
    order = 40
    place = "third"
    renderer = "plane"
    reading = "visual weights"
    section = "Sequence embeddings"
    needs = "visual model"
    layers = ("xi",)
