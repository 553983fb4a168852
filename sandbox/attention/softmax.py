"""Softmax attention: every query takes a weighted mean of all visible values."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from sandbox.attention.family import AttentionModule, Mechanism
from sandbox.foundations.probes import Probe


class SoftmaxAttention(AttentionModule):
    """softmax(Q K^T / sqrt(d_head)) V over the visible keys."""

    def forward(
        self,
        query: Float[Tensor, "batch head query d_head"],
        key: Float[Tensor, "batch head key d_head"],
        value: Float[Tensor, "batch head key d_head"],
        visible: Bool[Tensor, "batch key"] | None,
        scores: Probe,
        weights: Probe,
    ) -> Float[Tensor, "batch head query d_head"]:
        raw = scores(query @ key.transpose(-2, -1) * self.scale)  # batch head query key
        if visible is not None:
            raw = raw.masked_fill(~visible[:, None, None, :], -math.inf)
        mixed: Tensor = weights(torch.softmax(raw, dim=-1)) @ value
        return mixed


@Mechanism.variants.register("softmax")
@dataclass(frozen=True, kw_only=True)
class Softmax(Mechanism):
    """Scaled dot-product attention (Vaswani et al. 2017, arXiv 1706.03762, Eq. 1)."""

    title: ClassVar[str] = "Softmax attention"
    sentence: ClassVar[str] = (
        "Each token looks at every visible token, in proportion to the exponential of their match."
    )
    equation: ClassVar[str] = r"A = \mathrm{softmax}(Q K^\top / \sqrt{d})\, V"
    source: ClassVar[str] = "Vaswani et al., arXiv 1706.03762, Eq. 1"
    certainty: ClassVar[str] = "A: the standard definition"

    def build(self, d_head: int, n_heads: int, layer: int) -> AttentionModule:
        """Full attention with scale 1 / sqrt(d_head)."""
        return SoftmaxAttention(d_head)
