"""Window attention: the sequence is cut into windows, and tokens look only within their own."""

from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Bool, Int
from torch import Tensor

from sandbox.attention.family import AttentionModule, Mechanism
from sandbox.attention.restricted import RestrictedAttention
from sandbox.foundations.knobs import knob


class WindowAttention(RestrictedAttention):
    """Keys of the query's own window; windows begin `shift` tokens late, the first piece being shorter."""

    def __init__(self, d_head: int, window: int, shift: int = 0) -> None:
        super().__init__(d_head)
        self.window, self.shift = window, shift

    def reach(self, place: Int[Tensor, " token"]) -> Bool[Tensor, "query key"]:
        # A window as long as the sequence is never shifted (Liu et al., official code).
        shift = self.shift if self.window < len(place) else 0
        window_of = (place + self.window - shift) // self.window
        return window_of[:, None] == window_of[None, :]


@Mechanism.variants.register("window")
@dataclass(frozen=True, kw_only=True)
class Window(Mechanism):
    """W-MSA of Swin on a sequence (Liu et al. 2021, arXiv 2103.14030, section 3.2)."""

    title: ClassVar[str] = "Window attention"
    sentence: ClassVar[str] = (
        "Cuts the sequence into windows; each token looks only at the tokens of its own window."
    )
    equation: ClassVar[str] = (
        r"A_i = \sum_{j \in W(i)} P_{ij} V_j,\quad W(i) = \{j : \lfloor j/w \rfloor = \lfloor i/w \rfloor\}"
    )
    source: ClassVar[str] = "Liu et al., arXiv 2103.14030, section 3.2"
    certainty: ClassVar[str] = "A: the windows; C: their form on a sequence instead of an image"
    our_reading: ClassVar[str] = (
        "Windows are pieces of the sequence, the last one shorter where the length is no multiple. Swin's "
        "relative position bias is left out: positions are learned embeddings here. Computed as a mask on "
        "all scores: the numbers of windows, not their speed."
    )

    window: int = knob(
        4, "Window", low=1, high=4096, step=1, help="Tokens per window; the whole length is plain softmax."
    )

    def build(self, d_head: int, n_heads: int, layer: int) -> AttentionModule:
        """The same windows in every layer."""
        return WindowAttention(d_head, self.window)
