"""Attention map: who looks at whom in one probe sequence."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("attention map")
@dataclass(frozen=True, kw_only=True)
class AttentionMapPanel(Panel):
    """Attention weights of the chosen head on one fixed probe sequence."""

    title = "Attention map"
    sentence = "A row is one query token; the stronger a cell, the more it looks at that key."
    how_to_read = (
        "Every row sums to one. The colour scale is fixed from 0 to 1 over the run and across arms; “0 to "
        "max” stretches it and prints the maximum. Hatched cells are masked. Cells are rounded to 255ths of "
        "the map's maximum; above 64 tokens they average square blocks of tokens."
    )
    equation = "A = softmax(Q Kᵀ / √d_head), by rows over the visible keys"
    source = "Vaswani et al. 2017, arXiv:1706.03762, eq. 1"
    certainty = "A"
    order = 1
    place = "third"
    renderer = "map"
    reading = "attention map"
