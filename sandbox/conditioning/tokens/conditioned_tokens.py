"""Conditioned embedded tokens: every singular value of a sequence's token matrix is lifted by the largest."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from sandbox.conditioning.tokens.family import TokenConditioning


class LiftTokens(nn.Module):
    """X to X + C with C = sigma_max U V^T over the directions X has; C is a constant of the backward pass."""

    def forward(
        self, tokens: Float[Tensor, "batch token d_model"], visible: Bool[Tensor, "batch token"] | None
    ) -> Float[Tensor, "batch token d_model"]:
        shown = tokens.detach()
        if visible is not None:
            shown = shown * visible[..., None]
        # A run that has diverged must not stop its neighbours: its own tokens stay what they are.
        u, values, vh = torch.linalg.svd(torch.nan_to_num(shown, 0.0, 0.0, 0.0), full_matrices=False)
        largest = values[..., :1]
        # Directions that X lacks (padding, equal tokens) would be arbitrary: they are not lifted.
        smallest = largest * max(shown.shape[-2:]) * torch.finfo(shown.dtype).eps
        lift = largest * (values > smallest)
        correction = (u * lift[..., None, :]) @ vh
        return tokens + (correction if visible is None else correction * visible[..., None])


@TokenConditioning.variants.register("conditioned-tokens")
@dataclass(frozen=True, kw_only=True)
class ConditionedTokens(TokenConditioning):
    """kappa(X + C) <= 2 by a correction from the SVD of X (Saratchandran & Lucey, arXiv 2505.12789)."""

    title: ClassVar[str] = "Conditioned embedded tokens"
    sentence: ClassVar[str] = (
        "Adds a correction to every sequence's token matrix that makes its condition number at most two."
    )
    equation: ClassVar[str] = r"X \to X + \sigma_{\max} U V^\top,\quad X = U S V^\top"
    source: ClassVar[str] = "Saratchandran & Lucey, arXiv 2505.12789"
    certainty: ClassVar[str] = "B: two accounts agree on a correction from the SVD of the token matrix"
    our_reading: ClassVar[str] = (
        "X holds token plus position embeddings of one sequence's visible tokens; C is computed anew for "
        "every sequence and step, is not differentiated, and lifts only directions X has, so that repeated "
        "tokens and padding stay what they are; kappa is then that over those directions."
    )

    def build(self) -> nn.Module:
        """The correction of each sequence."""
        return LiftTokens()
