"""Mimetic initialization: attention starts with the products that trained vision models have."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from sandbox.foundations.knobs import knob
from sandbox.initialization.family import Initialization, Layer


def factors(
    product: Float[Tensor, "d_model d_model"], rank: int
) -> tuple[Float[Tensor, "d_model rank"], Float[Tensor, "d_model rank"]]:
    """(U_r S_r^(1/2), V_r S_r^(1/2)): their product, left times right^T, is the best of that rank."""
    u, values, vh = torch.linalg.svd(product)
    root = values[:rank].sqrt()
    return u[:, :rank] * root, vh[:rank].T * root


@Initialization.variants.register("mimetic")
@dataclass(frozen=True, kw_only=True)
class MimeticInitialization(Initialization):
    """W_Q W_K^T ~ a1 Z1 + b1 I, W_V W_O ~ a2 Z2 - b2 I (Trockman & Kolter 2023, arXiv 2305.09828)."""

    title: ClassVar[str] = "Mimetic initialization"
    sentence: ClassVar[str] = (
        "Starts each token looking at tokens like itself, and values with outputs near minus the identity."
    )
    equation: ClassVar[str] = (
        r"W_Q W_K^\top \approx \alpha_1 Z_1 + \beta_1 I,\quad W_V W_O \approx \alpha_2 Z_2 - \beta_2 I"
    )
    source: ClassVar[str] = "Trockman & Kolter, arXiv 2305.09828, section 3"
    certainty: ClassVar[str] = "A: the products and the vision constants; C: which draw is fresh"
    our_reading: ClassVar[str] = (
        "It touches W_O: values and output are factors of one D x D product per layer. Queries and keys get "
        "a fresh Z and the best approximation of rank d in every head. The scale 1/sqrt(d) is kept."
    )

    alpha1: float = knob(0.7, "Noise α₁ in W_Q W_K", low=0.0, high=10.0, step=0.1, help="Share of noise.")
    beta1: float = knob(
        0.7, "Identity β₁ in W_Q W_K", low=0.0, high=10.0, step=0.1, help="Share of the identity."
    )
    alpha2: float = knob(0.4, "Noise α₂ in W_V W_O", low=0.0, high=10.0, step=0.1, help="Share of noise.")
    beta2: float = knob(
        0.4, "Identity β₂ in W_V W_O", low=0.0, high=10.0, step=0.1, help="Minus this much identity."
    )

    def overwrite(self, model: nn.Module, layers: Sequence[Layer]) -> None:
        """Set W_Q, W_K, W_V and W_O."""
        with torch.no_grad():
            for layer in layers:
                attention = layer.attention
                d_model = attention.d_head * attention.n_heads
                pairs = [
                    factors(self._product(d_model, layer.draw(f"mimetic.qk.{head}"), True), attention.d_head)
                    for head in range(attention.n_heads)
                ]
                attention.w_query.weight.copy_(torch.cat([left.T for left, _ in pairs]))
                attention.w_key.weight.copy_(torch.cat([right.T for _, right in pairs]))
                left, right = factors(self._product(d_model, layer.draw("mimetic.vo"), False), d_model)
                attention.w_value.weight.copy_(left.T)
                attention.w_out.weight.copy_(right)  # W_O transposed: S^(1/2) V^T turned

    def _product(
        self, d_model: int, generator: torch.Generator, of_queries: bool
    ) -> Float[Tensor, "d_model d_model"]:
        noise = torch.randn(d_model, d_model, generator=generator, dtype=torch.float64) / d_model**0.5
        identity = torch.eye(d_model, dtype=torch.float64)
        if of_queries:
            return self.alpha1 * noise + self.beta1 * identity
        return self.alpha2 * noise - self.beta2 * identity
