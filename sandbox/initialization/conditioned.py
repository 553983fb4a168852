"""Conditioned initialization: values start as the identity, queries and keys with orthonormal columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from sandbox.attention.skeleton import MultiHeadAttention
from sandbox.foundations.knobs import knob
from sandbox.initialization.family import Draw, Initialization, Layer


def semi_orthogonal(d_model: int, d_head: int, generator: torch.Generator) -> Float[Tensor, "d_model d_head"]:
    """Polar factor U V^T of a Gaussian matrix, in float64: its columns are orthonormal."""
    gaussian = torch.randn(d_model, d_head, generator=generator, dtype=torch.float64)
    u, _, vh = torch.linalg.svd(gaussian, full_matrices=False)
    return u @ vh


@Initialization.variants.register("conditioned-init")
@dataclass(frozen=True, kw_only=True)
class ConditionedInitialization(Initialization):
    """W_V = I, W_Q and W_K semi-orthogonal per head (Saratchandran & Lucey, arXiv 2609.07086)."""

    title: ClassVar[str] = "Conditioned initialization"
    sentence: ClassVar[str] = (
        "Starts every projection perfectly conditioned; only the start changes, training is free."
    )
    equation: ClassVar[str] = r"W_V = I_{D \times d},\quad W_Q^\top W_Q = W_K^\top W_K = I_d"
    source: ClassVar[str] = "Saratchandran & Lucey, arXiv 2609.07086"
    certainty: ClassVar[str] = "A: stated by the paper; C: W_O is left as it is"
    our_reading: ClassVar[str] = (
        "In packed matrices W_V = I (head h reads its own channels) is our default; 'first' gives every "
        "head the "
        "leading channels. The scale 1/sqrt(d) is kept; W_O keeps its default start."
    )

    values: str = knob(
        "fused",
        "W_V of the heads",
        options=("fused", "first"),
        help="Fused: the packed matrix is the identity. First: every head reads the leading channels.",
        expert=True,
    )

    def overwrite(self, model: nn.Module, layers: Sequence[Layer]) -> None:
        """Set W_Q, W_K and W_V; W_O keeps its default start."""
        with torch.no_grad():
            for layer in layers:
                self._overwrite(layer.attention, layer.draw)

    def _overwrite(self, attention: MultiHeadAttention, draw: Draw) -> None:
        d_head, n_heads = attention.d_head, attention.n_heads
        d_model = d_head * n_heads
        for name, linear in (("query", attention.w_query), ("key", attention.w_key)):
            heads = [semi_orthogonal(d_model, d_head, draw(f"{name}.{head}")).T for head in range(n_heads)]
            linear.weight.copy_(torch.cat(heads))
        packed = (
            torch.eye(d_model) if self.values == "fused" else torch.eye(d_head, d_model).repeat(n_heads, 1)
        )
        attention.w_value.weight.copy_(packed)
