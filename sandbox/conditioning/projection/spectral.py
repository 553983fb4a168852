"""Spectral conditioning, identity variant: a fixed shift keeps projections away from singular."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from sandbox.conditioning.projection.family import ProjectionConditioning
from sandbox.foundations.knobs import knob

PAPER_SHIFT = 10.0  # Saratchandran & Lucey, arXiv 2603.07162, default of the experiments


class Shifted(nn.Module):
    """W to W + C: the correction C is a constant, only W is trained."""

    correction: Tensor

    def __init__(self, correction: Float[Tensor, "out in"]) -> None:
        super().__init__()
        self.register_buffer("correction", correction, persistent=False)

    def forward(self, weight: Float[Tensor, "out in"]) -> Float[Tensor, "out in"]:
        return weight + self.correction


@ProjectionConditioning.variants.register("spectral")
@dataclass(frozen=True, kw_only=True)
class SpectralConditioning(ProjectionConditioning):
    """C = shift on the main diagonal, never trained (Saratchandran & Lucey, arXiv 2603.07162, Thm 3.8)."""

    title: ClassVar[str] = "Spectral conditioning (identity)"
    sentence: ClassVar[str] = (
        "Adds a fixed multiple of the identity to the projections, which usually lowers their condition "
        "number."
    )
    equation: ClassVar[str] = (
        r"Q = X (W_Q + \lambda I),\quad K = X (W_K + \lambda I),\quad V = X (W_V + \lambda I)"
    )
    source: ClassVar[str] = "Saratchandran & Lucey, arXiv 2603.07162, Theorem 3.8"
    certainty: ClassVar[str] = (
        "A: the correction is stated by the paper; D: under which conditions it improves"
    )
    our_reading: ClassVar[str] = (
        "Whether the packed matrix or every head is shifted is not stated: 'fused' is our default, "
        "'first' the other "
        "reading. The menu starts at 0.5, because with layer-normed tokens the paper's 10 turns "
        "attention off here."
    )

    shift: float = knob(
        0.5,
        "Shift \u03bb",
        low=0.0,
        high=16.0,
        step=0.1,
        help="0 reproduces the standard run bit for bit.",
        marks=((PAPER_SHIFT, "paper"),),
        live=True,
    )
    heads: str = knob(
        "fused",
        "Heads",
        options=("fused", "first"),
        help="Fused shifts the packed matrix; first adds the leading channels to every head.",
        expert=True,
    )
    query: bool = knob(True, "Correct queries", expert=True)
    key: bool = knob(True, "Correct keys", expert=True)
    value: bool = knob(True, "Correct values", expert=True)

    def build(self, d_model: int, n_heads: int, which: str) -> nn.Module:
        """A constant shift for the chosen projections, the identity for the others."""
        if not {"query": self.query, "key": self.key, "value": self.value}[which]:
            return nn.Identity()
        if self.heads == "fused":
            return Shifted(self.shift * torch.eye(d_model))
        per_head = torch.eye(d_model // n_heads, d_model)  # transpose of I (d_model x d_head)
        return Shifted(self.shift * per_head.repeat(n_heads, 1))

    def added_operations(self, n_tokens: int, d_model: int, d_head: int) -> float:
        """N d, as the paper counts it: lambda times d channels of each token (W + C takes D d here)."""
        return float(n_tokens * d_head * (self.query + self.key + self.value)) / 3
