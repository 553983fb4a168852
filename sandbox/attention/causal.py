"""Causal softmax attention: every token looks at itself and at what came before it."""

from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Bool, Int
from torch import Tensor

from sandbox.attention.family import AttentionModule, Mechanism
from sandbox.attention.restricted import RestrictedAttention


class CausalAttention(RestrictedAttention):
    """Keys up to and including the query's own place."""

    def reach(self, place: Int[Tensor, " token"]) -> Bool[Tensor, "query key"]:
        return place[:, None] >= place[None, :]


@Mechanism.variants.register("causal")
@dataclass(frozen=True, kw_only=True)
class Causal(Mechanism):
    """Masked self-attention of decoders (Vaswani et al. 2017, arXiv 1706.03762, section 3.2.3)."""

    title: ClassVar[str] = "Causal softmax attention"
    sentence: ClassVar[str] = "Each token looks at itself and at earlier tokens; no later token changes it."
    equation: ClassVar[str] = (
        r"A_i = \sum_{j \le i} P_{ij} V_j,\quad P_{i,1..i} = \mathrm{softmax}(q_i K_{1..i}^\top / \sqrt{d})"
    )
    source: ClassVar[str] = "Vaswani et al., arXiv 1706.03762, section 3.2.3"
    certainty: ClassVar[str] = "A: the standard definition"
    our_reading: ClassVar[str] = (
        "The read-out stays as chosen: 'last' sees every token, the mean mostly early ones, and 'first' sees "
        "a token that has looked at itself alone."
    )

    def build(self, d_head: int, n_heads: int, layer: int) -> AttentionModule:
        """Softmax attention over the past, scale 1 / sqrt(d_head)."""
        return CausalAttention(d_head)
