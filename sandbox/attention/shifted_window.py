"""Shifted window attention: every other layer moves the windows by half, so that they exchange tokens."""

from dataclasses import dataclass
from typing import ClassVar

from sandbox.attention.family import AttentionModule, Mechanism
from sandbox.attention.window import WindowAttention
from sandbox.foundations.knobs import knob


@Mechanism.variants.register("shifted-window")
@dataclass(frozen=True, kw_only=True)
class ShiftedWindow(Mechanism):
    """SW-MSA alternating with W-MSA, Swin's pair (Liu et al. 2021, arXiv 2103.14030, Eq. 3)."""

    title: ClassVar[str] = "Shifted window attention"
    sentence: ClassVar[str] = (
        "Windows that move by half their size from layer to layer, so that neighbours across a border meet."
    )
    equation: ClassVar[str] = (
        r"W(i) = \{j : \lfloor (j - s)/w \rfloor = \lfloor (i - s)/w \rfloor\},\quad s \in \{0, \lfloor w/2 "
        r"\rfloor\}"
    )
    source: ClassVar[str] = "Liu et al., arXiv 2103.14030, section 3.2 and Eq. 3"
    certainty: ClassVar[str] = "A: windows, shift and mask; C: their form on a sequence instead of an image"
    our_reading: ClassVar[str] = (
        "Swin begins with unshifted windows; here the first layer is shifted by default, since a model of "
        "one layer would otherwise not differ from plain windows. The masked cyclic shift is the same as "
        "shorter windows at both ends. No relative position bias; computed as a mask on all scores."
    )

    window: int = knob(
        4, "Window", low=1, high=4096, step=1, help="Tokens per window; the whole length is plain softmax."
    )
    first: str = knob(
        "shifted",
        "First layer",
        options=("shifted", "plain"),
        help="Which windows the first layer has; layers alternate. Swin begins with plain ones.",
        expert=True,
    )

    def build(self, d_head: int, n_heads: int, layer: int) -> AttentionModule:
        """Shifted windows in every other layer, plain ones in between."""
        shifted = (layer % 2 == 0) == (self.first == "shifted")
        return WindowAttention(d_head, self.window, self.window // 2 if shifted else 0)
