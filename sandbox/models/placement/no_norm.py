"""No normalization: sublayers are simply added to the residual stream."""

from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from sandbox.attention.skeleton import MultiHeadAttention
from sandbox.models.placement.family import Block, Placement


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
        return Block(attention, feed_forward, nn.Identity)

    def build_final(self, d_model: int) -> nn.Module:
        """Nothing."""
        return nn.Identity()
