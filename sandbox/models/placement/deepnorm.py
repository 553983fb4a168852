"""DeepNorm: post-normalization with a louder residual stream, made for very deep models."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor, nn

from sandbox.attention.skeleton import MultiHeadAttention
from sandbox.models.placement.family import Block, NormalizedPlacement, Placement, Sublayer


def residual_gain(n_layers: int) -> float:
    """alpha = (2 N)^(1/4) of an encoder with N layers (Wang et al., arXiv 2203.00555, Figure 2)."""
    return float((2 * n_layers) ** 0.25)


class DeepNormBlock(Block):
    """LN(alpha x + f(x)), once for attention and once for the feed-forward part."""

    additive: ClassVar[bool] = False

    def __init__(
        self,
        attention: MultiHeadAttention,
        feed_forward: nn.Module,
        normalization: Callable[[], nn.Module],
        alpha: float,
    ) -> None:
        super().__init__(attention, feed_forward, normalization)
        self.identity = alpha

    def around(
        self, x: Float[Tensor, "batch token d_model"], sublayer: Sublayer, norm: nn.Module
    ) -> Float[Tensor, "batch token d_model"]:
        out: Tensor = norm(self.identity * x + sublayer(x))
        return out


@Placement.variants.register("deepnorm")
@dataclass(frozen=True, kw_only=True)
class DeepNorm(NormalizedPlacement):
    """Post-normalization of alpha x + f(x) (Wang et al. 2022, arXiv 2203.00555, Figure 2)."""

    title: ClassVar[str] = "DeepNorm"
    sentence: ClassVar[str] = (
        "Normalizes after every sublayer, with the residual stream scaled up so that deep models stay stable."
    )
    equation: ClassVar[str] = (
        r"x \leftarrow \mathrm{LN}(\alpha x + f(x)),\quad \alpha = (2 N_{\mathrm{layers}})^{1/4}"
    )
    source: ClassVar[str] = "Wang et al., arXiv 2203.00555, Figure 2"
    certainty: ClassVar[str] = "A: stated by the paper for encoders"
    our_reading: ClassVar[str] = (
        "The paper pairs it with its own start, which is the initialization 'deepnorm-init' here: choose "
        "both for the paper's method."
    )

    def build(
        self, d_model: int, n_layers: int, attention: MultiHeadAttention, feed_forward: nn.Module
    ) -> Block:
        """A post-normalized layer with the residual gain of a model of `n_layers`."""
        return DeepNormBlock(
            attention, feed_forward, partial(self.normalization, d_model), residual_gain(n_layers)
        )

    def build_final(self, d_model: int) -> nn.Module:
        """Nothing: the stream is already normalized."""
        return nn.Identity()
