"""Positions: rows of the position table, prefix and rest apart."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("position embeddings")
@dataclass(frozen=True, kw_only=True)
class PositionEmbeddings(Panel):
    """Rows of the position table, prefix and rest apart."""

    title = "Positions"
    sentence = "Each position's row of P; those of the prefix decide the answer."
    how_to_read = (
        "Squares are the positions whose tokens count, dots the rest. A model that ignores the rest often "
        "sends them far out, so that E changes little of their direction."
    )
    equation = "P[t], one point for each position"
    source = "Odonnat, Bouaziz and Cabannes, arXiv:2410.24050, the pictures of embeddings"
    certainty = "A: the picture, at width 2; C: wider models are drawn in a plane fitted at the first frame"
    order = 21
    place = "third"
    renderer = "plane"
    reading = "visual weights"
    section = "Embeddings"
    needs = "visual model"
    layers = ("P",)
