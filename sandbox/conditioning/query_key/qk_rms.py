"""RMS normalized queries and keys: every vector gets the same root mean square."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from sandbox.conditioning.query_key.family import QueryKeyNormalization
from sandbox.foundations.knobs import knob

EPSILON = 1e-6  # under the root, as in the public implementations


class UnitRms(nn.Module):
    """x to gain x / rms(x), the gain by channel and common to the heads."""

    def __init__(self, d_head: int, gain: float, trained: bool) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.full((d_head,), gain)) if trained else gain

    def forward(
        self, x: Float[Tensor, "batch head token d_head"]
    ) -> Float[Tensor, "batch head token d_head"]:
        return x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + EPSILON) * self.gain


@QueryKeyNormalization.variants.register("qk-rms")
@dataclass(frozen=True, kw_only=True)
class RmsQueryKey(QueryKeyNormalization):
    """RMSNorm on queries and keys of each head (Dehghani et al. 2023, arXiv 2302.05442, section 2)."""

    title: ClassVar[str] = "RMS normalized queries and keys"
    sentence: ClassVar[str] = (
        "Queries and keys get a root mean square of one, so that scores cannot grow with the weights."
    )
    equation: ClassVar[str] = r"q \to g \odot q / \mathrm{rms}(q),\quad k \to g' \odot k / \mathrm{rms}(k)"
    source: ClassVar[str] = "Dehghani et al., arXiv 2302.05442, section 2; RMSNorm: arXiv 1910.07467"
    certainty: ClassVar[str] = "B: the paper uses LayerNorm without bias; RMSNorm is what its followers use"
    our_reading: ClassVar[str] = (
        "One gain per channel, common to the heads of a layer, for queries and keys apart."
    )

    gain: float = knob(1.0, "Gain", low=0.01, high=100.0, step=0.1, help="Where the gains start.")
    trained: bool = knob(True, "Train the gain", expert=True)

    def build(self, d_head: int, which: str) -> nn.Module:
        """The normalization with its own gain."""
        return UnitRms(d_head, self.gain, self.trained)
