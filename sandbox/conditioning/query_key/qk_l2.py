"""L2 normalized queries and keys: scores are cosines times a gain."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from sandbox.conditioning.query_key.family import QueryKeyNormalization
from sandbox.foundations.knobs import knob

EPSILON = 1e-8  # keeps a zero vector zero


class UnitLength(nn.Module):
    """x to factor x / |x|."""

    def __init__(self, factor: float, trained: bool) -> None:
        super().__init__()
        self.factor = nn.Parameter(torch.tensor(factor)) if trained else factor

    def forward(
        self, x: Float[Tensor, "batch head token d_head"]
    ) -> Float[Tensor, "batch head token d_head"]:
        return x * (self.factor / torch.linalg.vector_norm(x, dim=-1, keepdim=True).clamp_min(EPSILON))


@QueryKeyNormalization.variants.register("qk-l2")
@dataclass(frozen=True, kw_only=True)
class L2QueryKey(QueryKeyNormalization):
    """Scores g cos(q, k) (Henry et al. 2020, arXiv 2010.04245, Eq. 4)."""

    title: ClassVar[str] = "L2 normalized queries and keys"
    sentence: ClassVar[str] = (
        "Queries and keys get length one, so that a score is the cosine of their angle times a gain."
    )
    equation: ClassVar[str] = r"S_{ij} = g\,\frac{\sqrt{d}}{\tau}\,\frac{q_i^\top k_j}{\|q_i\|\,\|k_j\|}"
    source: ClassVar[str] = "Henry et al., arXiv 2010.04245, Eq. 4; start of the gain: arXiv 2111.09883"
    certainty: ClassVar[str] = "A: the normalization and a trained gain; C: how it meets the temperature"
    our_reading: ClassVar[str] = (
        "The gain g is that at the standard temperature sqrt(d): the paper has no further scale, another "
        "temperature divides by it as everywhere here. One gain per layer, carried by the queries; it starts "
        "at 10 as in Swin V2, the paper starts at log2(L^2 - L) for length L."
    )

    gain: float = knob(10.0, "Gain", low=0.01, high=1000.0, step=1.0, help="The score of equal directions.")
    trained: bool = knob(True, "Train the gain", expert=True)

    def build(self, d_head: int, which: str) -> nn.Module:
        """Unit keys, and queries of length gain times sqrt(d_head)."""
        if which == "key":
            return UnitLength(1.0, trained=False)
        return UnitLength(self.gain * math.sqrt(d_head), self.trained)
