"""Normalized E + P: normalized sums of token and position embeddings."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("normalized E + P")
@dataclass(frozen=True, kw_only=True)
class NormalizedEmbeddings(Panel):
    """Normalized sums of token and position embeddings."""

    title = "Normalized E + P"
    sentence = "What attention sees: E + P on the circle of radius √d."
    how_to_read = (
        "RMS normalization keeps the direction alone. Where two tokens of a position fall together, the "
        "model has become blind to that position. The arrow is the query q: attention rises along it."
    )
    equation = "z = RMS(E[x] + P[t]), RMS(x) = x / (rms(x) + 1e-5)"
    source = "Odonnat, Bouaziz and Cabannes, arXiv:2410.24050, the pictures of embeddings"
    certainty = "A: the picture, at width 2; C: wider models are drawn in a plane fitted at the first frame"
    order = 23
    place = "third"
    renderer = "plane"
    reading = "visual weights"
    section = "Embeddings"
    needs = "visual model"
    layers = ("z",)
