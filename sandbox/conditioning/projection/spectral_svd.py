"""Spectral conditioning, SVD variant: every singular value of a projection is lifted by the largest."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from sandbox.conditioning.carried import carried
from sandbox.conditioning.projection.family import CarriedCorrection, ProjectionConditioning
from sandbox.foundations.knobs import knob

SVD_OPERATIONS = 14  # of D d^2, for thin U, S and V (Golub & Van Loan, table 8.6.1, leading term)


class Lifted(CarriedCorrection):
    """W to W + C with C = sigma_max U V^T of each block of rows, computed anew every `every` steps."""

    def __init__(self, d_model: int, n_blocks: int, every: int) -> None:
        super().__init__()
        self.n_blocks, self.every = n_blocks, every
        self.correction = carried(torch.zeros(d_model, d_model))

    def forward(self, weight: Float[Tensor, "out in"]) -> Float[Tensor, "out in"]:
        return weight + self.correction

    def renewed(self, weight: Float[Tensor, "out in"], step: int) -> dict[str, Tensor]:
        if step % self.every:
            return {}
        blocks = weight.unflatten(0, (self.n_blocks, -1))
        # A run that has diverged must not stop its neighbours: W + C stays NaN with its W.
        u, values, vh = torch.linalg.svd(torch.nan_to_num(blocks, 0.0, 0.0, 0.0), full_matrices=False)
        return {"correction": (values[:, :1, None] * (u @ vh)).flatten(0, 1)}


@ProjectionConditioning.variants.register("spectral-svd")
@dataclass(frozen=True, kw_only=True)
class SpectralSvd(ProjectionConditioning):
    """C = U (sigma_max I) V^T, so kappa(W + C) = 2 kappa / (kappa + 1) (arXiv 2603.07162, Thm 3.5)."""

    title: ClassVar[str] = "Spectral conditioning (SVD)"
    sentence: ClassVar[str] = (
        "Adds the largest singular value to all of them, so that no condition number exceeds two."
    )
    equation: ClassVar[str] = r"W \to W + \sigma_{\max} U V^\top,\quad W = U S V^\top"
    source: ClassVar[str] = "Saratchandran & Lucey, arXiv 2603.07162, Theorem 3.5"
    certainty: ClassVar[str] = "A: the correction; C: that it is computed anew as W changes"
    our_reading: ClassVar[str] = (
        "C is computed anew after every step, as its cost in the paper suggests, and is not differentiated; "
        "'each head' takes the D x d matrices of the theorem, 'packed' all heads of a layer at once."
    )

    heads: str = knob(
        "each head",
        "Matrices",
        options=("each head", "packed"),
        help="Of which matrices the singular values are lifted.",
        expert=True,
    )
    every: int = knob(
        1,
        "Compute every",
        low=1,
        high=10_000,
        step=1,
        help="Steps between two computations of C.",
        expert=True,
    )
    query: bool = knob(True, "Correct queries", expert=True)
    key: bool = knob(True, "Correct keys", expert=True)
    value: bool = knob(True, "Correct values", expert=True)

    def build(self, d_model: int, n_heads: int, which: str) -> nn.Module:
        """A correction that follows the chosen projections, the identity for the others."""
        if not {"query": self.query, "key": self.key, "value": self.value}[which]:
            return nn.Identity()
        return Lifted(d_model, n_heads if self.heads == "each head" else 1, self.every)

    def added_operations(self, n_tokens: int, d_model: int, d_head: int) -> float:
        """D d for the sum, and the SVD of a D x d matrix once in `every` steps of one sequence."""
        share = (self.query + self.key + self.value) / 3
        svd = SVD_OPERATIONS * d_model * d_head**2
        return share * (d_model * d_head + svd / self.every)
