"""Post-LN: the residual stream is normalized after each sublayer, as in the first transformer."""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor, nn

from sandbox.attention.skeleton import MultiHeadAttention
from sandbox.models.placement.family import Block, NormalizedPlacement, Placement, Sublayer


class PostNormBlock(Block):
    """LN(x + f(x)), once for attention and once for the feed-forward part."""

    additive: ClassVar[bool] = False

    def around(
        self, x: Float[Tensor, "batch token d_model"], sublayer: Sublayer, norm: nn.Module
    ) -> Float[Tensor, "batch token d_model"]:
        out: Tensor = norm(x + sublayer(x))
        return out


@Placement.variants.register("post-ln")
@dataclass(frozen=True, kw_only=True)
class PostLN(NormalizedPlacement):
    """Normalization after each sublayer (Vaswani et al. 2017, arXiv 1706.03762, section 3.1)."""

    title: ClassVar[str] = "Post-LN"
    sentence: ClassVar[str] = (
        "Normalizes the residual stream after every sublayer; no path bypasses the normalization."
    )
    equation: ClassVar[str] = r"x \leftarrow \mathrm{LN}(x + f(x))"
    source: ClassVar[str] = "Vaswani et al., arXiv 1706.03762, section 3.1"
    certainty: ClassVar[str] = "A: the standard definition"

    def build(
        self, d_model: int, n_layers: int, attention: MultiHeadAttention, feed_forward: nn.Module
    ) -> Block:
        """A post-normalized layer."""
        return PostNormBlock(attention, feed_forward, partial(self.normalization, d_model))

    def build_final(self, d_model: int) -> nn.Module:
        """Nothing: the stream is already normalized."""
        return nn.Identity()
