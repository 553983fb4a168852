"""Plain queries and keys: compared as they were projected."""

from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from sandbox.conditioning.query_key.family import QueryKeyNormalization


@QueryKeyNormalization.variants.register("qk-plain")
@dataclass(frozen=True, kw_only=True)
class PlainQueryKey(QueryKeyNormalization):
    """No normalization (Vaswani et al. 2017, arXiv 1706.03762, Eq. 1)."""

    title: ClassVar[str] = "Plain queries and keys"
    sentence: ClassVar[str] = "Queries and keys are compared as they were projected, long ones louder."
    equation: ClassVar[str] = r"S = Q K^\top / \tau"
    source: ClassVar[str] = "Vaswani et al., arXiv 1706.03762, Eq. 1"
    certainty: ClassVar[str] = "A: the standard definition"

    def build(self, d_head: int, which: str) -> nn.Module:
        """The identity."""
        return nn.Identity()
