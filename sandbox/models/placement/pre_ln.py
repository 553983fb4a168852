"""Pre-LN: each sublayer reads a normalized copy, the residual stream itself is never normalized."""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor, nn

from sandbox.attention.skeleton import MultiHeadAttention
from sandbox.models.placement.family import Block, NormalizedPlacement, Placement, Sublayer


class PreNormBlock(Block):
    """x + f(LN(x)), once for attention and once for the feed-forward part."""

    def branch(
        self, x: Float[Tensor, "batch token d_model"], sublayer: Sublayer, norm: nn.Module
    ) -> Float[Tensor, "batch token d_model"]:
        return sublayer(norm(x))


@Placement.variants.register("pre-ln")
@dataclass(frozen=True, kw_only=True)
class PreLN(NormalizedPlacement):
    """Normalization before each sublayer (Xiong et al. 2020, arXiv 2002.04745, Figure 1b)."""

    title: ClassVar[str] = "Pre-LN"
    sentence: ClassVar[str] = (
        "Normalizes what each sublayer reads; the residual stream stays an additive identity."
    )
    equation: ClassVar[str] = r"x \leftarrow x + f(\mathrm{LN}(x))"
    source: ClassVar[str] = "Xiong et al., arXiv 2002.04745, Figure 1b"
    certainty: ClassVar[str] = "A: the standard definition"

    def build(
        self, d_model: int, n_layers: int, attention: MultiHeadAttention, feed_forward: nn.Module
    ) -> Block:
        """A pre-normalized layer."""
        return PreNormBlock(attention, feed_forward, partial(self.normalization, d_model))

    def build_final(self, d_model: int) -> nn.Module:
        """One last normalization, since the residual stream has none."""
        return self.normalization(d_model)
