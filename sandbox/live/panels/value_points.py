"""Values: values of tokens at positions."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("values")
@dataclass(frozen=True, kw_only=True)
class Values(Panel):
    """Values of tokens at positions."""

    title = "Values"
    sentence = "What each token at each position adds to the sum, before weighting."
    how_to_read = (
        "A sequence embedding is the mean of its tokens' points, weighted by attention. Two tokens of "
        "one position that coincide cannot change it."
    )
    equation = "V z, one point for each token and position"
    source = "Odonnat, Bouaziz and Cabannes, arXiv:2410.24050, the pictures of embeddings"
    certainty = "A: the picture, at width 2; C: wider models are drawn in a plane fitted at the first frame"
    order = 31
    place = "third"
    renderer = "plane"
    reading = "visual weights"
    section = "Attention and values"
    needs = "visual model"
    layers = ("values",)
