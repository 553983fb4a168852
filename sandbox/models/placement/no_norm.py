"""No normalization: sublayers are simply added to the residual stream."""

from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Bool, Float
from torch import Tensor, nn

from sandbox.attention.skeleton import MultiHeadAttention
from sandbox.models.placement.family import Block, Placement


class PlainBlock(Block):
    """x + f(x), once for attention and once for the feed-forward part."""

    def forward(
        self, x: Float[Tensor, "batch token d_model"], visible: Bool[Tensor, "batch token"] | None
    ) -> Float[Tensor, "batch token d_model"]:
        x = x + self.attention(x, visible)
        out: Tensor = self.residual(x + self.feed_forward(x))
        return out


@Placement.variants.register("no-norm")
@dataclass(frozen=True, kw_only=True)
class NoNormalization(Placement):
    """Residual sublayers alone (He et al. 2015, arXiv 1512.03385, Eq. 1)."""

    title: ClassVar[str] = "No normalization"
    sentence: ClassVar[str] = "Adds every sublayer to the residual stream and normalizes nothing."
    equation: ClassVar[str] = r"x \leftarrow x + f(x)"
    source: ClassVar[str] = "He et al., arXiv 1512.03385, Eq. 1; without LayerNorm: arXiv 2603.07162"
    certainty: ClassVar[str] = (
        "A: conditioning without LayerNorm is worse than the plain baseline in the paper (ViT-B 79.8 to 80.7)"
    )

    def build(
        self, d_model: int, n_layers: int, attention: MultiHeadAttention, feed_forward: nn.Module
    ) -> Block:
        """A layer without normalization."""
        return PlainBlock(attention, feed_forward, nn.Identity)

    def build_final(self, d_model: int) -> nn.Module:
        """Nothing."""
        return nn.Identity()
