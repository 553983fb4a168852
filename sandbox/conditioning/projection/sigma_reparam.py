"""sigma-Reparam: a projection is divided by its largest singular value and multiplied by a trained number."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from sandbox.conditioning.carried import carried
from sandbox.conditioning.projection.family import CarriedCorrection, ProjectionConditioning
from sandbox.foundations.knobs import knob

SHORTEST = 1e-12  # torch.nn.functional.normalize divides no vector by less


class SpectralScale(CarriedCorrection):
    """W to gamma W / sigma(W), sigma = u^T W v, with u and v from one power iteration a step."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.tensor(1.0))
        self.u, self.v = carried(torch.zeros(d_model)), carried(torch.zeros(d_model))

    def forward(self, weight: Float[Tensor, "out in"]) -> Float[Tensor, "out in"]:
        sigma = (self.u * (weight @ self.v)).sum()
        return weight * (self.gamma / sigma)

    def renewed(self, weight: Float[Tensor, "out in"], step: int) -> dict[str, Tensor]:
        if step == 0:
            u, _, vh = torch.linalg.svd(torch.nan_to_num(weight, 0.0, 0.0, 0.0))
            return {"u": u[:, 0], "v": vh[0]}
        v = nn.functional.normalize(weight.T @ self.u, dim=0, eps=SHORTEST)
        return {"u": nn.functional.normalize(weight @ v, dim=0, eps=SHORTEST), "v": v}


@ProjectionConditioning.variants.register("sigma-reparam")
@dataclass(frozen=True, kw_only=True)
class SigmaReparam(ProjectionConditioning):
    """W gamma / sigma(W), one power iteration a step (Zhai et al. 2023, arXiv 2303.06296, section 3.2)."""

    title: ClassVar[str] = "sigma-Reparam"
    sentence: ClassVar[str] = (
        "Fixes a projection's largest stretch to a trained number; the condition number stays what it is."
    )
    equation: ClassVar[str] = r"W \to \frac{\gamma}{\sigma(W)}\, W,\quad \sigma(W) = u^\top W v"
    source: ClassVar[str] = "Zhai et al., arXiv 2303.06296, section 3.2"
    certainty: ClassVar[str] = "A: stated by the paper and its code"
    our_reading: ClassVar[str] = (
        "The paper treats every linear layer; here the packed projections of queries, keys and values are. "
        "u and v start as the exact singular vectors instead of at random, gamma at 1."
    )

    query: bool = knob(True, "Treat queries", expert=True)
    key: bool = knob(True, "Treat keys", expert=True)
    value: bool = knob(True, "Treat values", expert=True)

    def build(self, d_model: int, n_heads: int, which: str) -> nn.Module:
        """The reparametrization of the chosen projections, the identity for the others."""
        chosen = {"query": self.query, "key": self.key, "value": self.value}[which]
        return SpectralScale(d_model) if chosen else nn.Identity()

    def added_operations(self, n_tokens: int, d_model: int, d_head: int) -> float:
        """Three products of a D x d block with a vector, and its scaling."""
        return 7.0 * d_model * d_head * (self.query + self.key + self.value) / 3
