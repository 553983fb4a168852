"""Cross-covariance attention: channels look at channels, and tokens meet only in their products."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import normalize

from sandbox.attention.channels import ChannelAttention
from sandbox.attention.family import AttentionModule, Mechanism


class CrossCovarianceAttention(ChannelAttention):
    """V softmax(t Q'^T K')^T, Q' and K' with columns of length one over the visible tokens."""

    def __init__(self, d_head: int, n_heads: int) -> None:
        super().__init__(d_head)
        self.temperature = nn.Parameter(torch.ones(n_heads, 1, 1))

    def affinity(
        self, query: Float[Tensor, "batch head token d_head"], key: Float[Tensor, "batch head token d_head"]
    ) -> Float[Tensor, "batch head d_head d_head"]:
        return normalize(query, dim=-2).transpose(-2, -1) @ normalize(key, dim=-2) * self.temperature


@Mechanism.variants.register("cross-covariance")
@dataclass(frozen=True, kw_only=True)
class CrossCovariance(Mechanism):
    """XCA of XCiT (El-Nouby et al. 2021, arXiv 2106.09681, section 3.2)."""

    title: ClassVar[str] = "Cross-covariance attention"
    sentence: ClassVar[str] = (
        "Attention between the channels of a head instead of between tokens; its cost grows with the length "
        "alone."
    )
    equation: ClassVar[str] = (
        r"A = V\,\mathrm{softmax}(\hat K^\top \hat Q / \tau),\quad \hat Q, \hat K \text{ with unit columns}"
    )
    source: ClassVar[str] = "El-Nouby et al., arXiv 2106.09681, section 3.2"
    certainty: ClassVar[str] = "A: stated by the paper and its official code"
    our_reading: ClassVar[str] = (
        "Softmax runs over the channels of K. As in the official code the trained number, one per head and 1 "
        "at the start, is 1/\u03c4; weight decay reaches it like every parameter here. XCiT's local patch "
        "interaction is a layer of its own and not part of it."
    )
    scaled: ClassVar[bool] = False
    no_token_weights: ClassVar[str] = (
        "Cross-covariance attention weighs channels, not tokens, so no token has a row of attention weights."
    )

    def build(self, d_head: int, n_heads: int, layer: int) -> AttentionModule:
        """Channel attention with one trained temperature per head."""
        return CrossCovarianceAttention(d_head, n_heads)
