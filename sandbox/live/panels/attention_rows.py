"""Attention rows: attention of the probe sequences."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("attention rows")
@dataclass(frozen=True, kw_only=True)
class AttentionRows(Panel):
    """Attention of the probe sequences."""

    title = "Attention rows"
    sentence = "One row per probe sequence: where its single query looks."
    how_to_read = (
        "Rows are sorted by class and number of ones; numbers in cells are tokens where there is room. A "
        "clustering head is flat on the prefix, left of the line, and zero beyond it."
    )
    equation = "a = softmax(qᵀz / √d) over positions"
    source = "Odonnat, Bouaziz and Cabannes, arXiv:2410.24050, the pictures of embeddings"
    certainty = "A: the picture, at width 2; C: wider models are drawn in a plane fitted at the first frame"
    order = 30
    place = "third"
    renderer = "rows"
    reading = "visual weights"
    section = "Attention and values"
    needs = "visual model"
