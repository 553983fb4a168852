"""Normalization placement: where layer normalization stands around a sublayer, and of what kind it is."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from jaxtyping import Bool, Float
from torch import Tensor, nn

from sandbox.attention.skeleton import MultiHeadAttention
from sandbox.foundations.idea import Idea
from sandbox.foundations.knobs import knob
from sandbox.foundations.probes import Probe
from sandbox.foundations.registry import Registry

EPSILON = 1e-5  # torch.nn.LayerNorm's own, for both kinds


Sublayer = Callable[[Tensor], Tensor]


class Block(nn.Module):
    """One layer: attention, then feed-forward, each around the residual stream; x + f(x) by default."""

    additive: ClassVar[bool] = True
    """Whether a sublayer is added to the stream and nothing normalizes the sum."""

    def __init__(
        self, attention: MultiHeadAttention, feed_forward: nn.Module, normalization: Callable[[], nn.Module]
    ) -> None:
        super().__init__()
        self.attention: MultiHeadAttention = attention
        self.feed_forward: nn.Module = feed_forward
        self.norm_attention, self.norm_feed_forward = normalization(), normalization()
        self.residual = Probe()
        self.identity = 1.0
        """What the stream is multiplied by where a sublayer is added to it."""

    def forward(
        self, x: Float[Tensor, "batch token d_model"], visible: Bool[Tensor, "batch token"] | None
    ) -> Float[Tensor, "batch token d_model"]:
        """The residual stream after the layer."""
        x = self.around(x, partial(self.attention, visible=visible), self.norm_attention)
        out: Tensor = self.residual(self.around(x, self.feed_forward, self.norm_feed_forward))
        return out

    def branch(
        self, x: Float[Tensor, "batch token d_model"], sublayer: Sublayer, norm: nn.Module
    ) -> Float[Tensor, "batch token d_model"]:
        """What one sublayer adds to the stream."""
        return sublayer(x)

    def around(
        self, x: Float[Tensor, "batch token d_model"], sublayer: Sublayer, norm: nn.Module
    ) -> Float[Tensor, "batch token d_model"]:
        """The stream after one sublayer."""
        return x + self.branch(x, sublayer, norm)


@dataclass(frozen=True, kw_only=True)
class Placement(Idea, ABC):
    """Settings of one placement, and the recipe for its blocks."""

    variants: ClassVar[Registry["Placement"]] = Registry("normalization placement")

    @abstractmethod
    def build(
        self, d_model: int, n_layers: int, attention: MultiHeadAttention, feed_forward: nn.Module
    ) -> Block:
        """Return one of `n_layers` layers around the two sublayers."""

    @abstractmethod
    def build_final(self, d_model: int) -> nn.Module:
        """Return what stands between the last layer and the read-out."""


@dataclass(frozen=True, kw_only=True)
class NormalizedPlacement(Placement, ABC):
    """A placement that normalizes somewhere: which normalization, and whether its gain is trained."""

    norm: str = knob(
        "layer norm",
        "Normalization",
        options=("layer norm", "rms norm"),
        help="Layer norm subtracts the mean and divides by the spread (arXiv 1607.06450); RMS norm divides "
        "by the root mean square alone (arXiv 1910.07467).",
        expert=True,
    )
    affine: bool = knob(
        True,
        "Trained gain",
        help="Whether a gain, and with layer norm a bias, is trained for each channel.",
        expert=True,
    )

    def normalization(self, d_model: int) -> nn.Module:
        """One normalization of the chosen kind."""
        kind = nn.LayerNorm if self.norm == "layer norm" else nn.RMSNorm
        return kind(d_model, eps=EPSILON, elementwise_affine=self.affine)
