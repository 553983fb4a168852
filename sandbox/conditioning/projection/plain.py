"""Plain projections: W_Q, W_K and W_V as they are trained."""

from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from sandbox.conditioning.projection.family import ProjectionConditioning


@ProjectionConditioning.variants.register("plain")
@dataclass(frozen=True, kw_only=True)
class PlainProjection(ProjectionConditioning):
    """No correction (Vaswani et al. 2017, arXiv 1706.03762, section 3.2)."""

    title: ClassVar[str] = "Plain projections"
    sentence: ClassVar[str] = "Queries, keys and values use the trained matrices as they are."
    equation: ClassVar[str] = r"Q = X W_Q,\quad K = X W_K,\quad V = X W_V"
    source: ClassVar[str] = "Vaswani et al., arXiv 1706.03762, section 3.2"
    certainty: ClassVar[str] = "A: the standard definition"

    def build(self, d_model: int, n_heads: int, which: str) -> nn.Module:
        """The identity."""
        return nn.Identity()
