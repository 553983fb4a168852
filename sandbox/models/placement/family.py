"""Normalization placement: where layer normalization stands around a sublayer."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Bool, Float
from torch import Tensor, nn

from sandbox.foundations.idea import Idea
from sandbox.foundations.probes import Probe
from sandbox.foundations.registry import Registry


class Block(nn.Module, ABC):
    """One layer: attention, then feed-forward, each around the residual stream."""

    def __init__(self, d_model: int, attention: nn.Module, feed_forward: nn.Module) -> None:
        super().__init__()
        self.attention, self.feed_forward = attention, feed_forward
        self.norm_attention, self.norm_feed_forward = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.residual = Probe()

    @abstractmethod
    def forward(
        self, x: Float[Tensor, "batch token d_model"], visible: Bool[Tensor, "batch token"] | None
    ) -> Float[Tensor, "batch token d_model"]:
        """The residual stream after the layer."""


@dataclass(frozen=True, kw_only=True)
class Placement(Idea, ABC):
    """Settings of one placement, and the recipe for its blocks."""

    variants: ClassVar[Registry["Placement"]] = Registry("normalization placement")

    @abstractmethod
    def build(self, d_model: int, attention: nn.Module, feed_forward: nn.Module) -> Block:
        """Return one layer around the two sublayers."""

    @abstractmethod
    def build_final(self, d_model: int) -> nn.Module:
        """Return what stands between the last layer and the read-out."""
