"""Plain tokens: embeddings go into the first layer as they are."""

from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Bool, Float
from torch import Tensor, nn

from sandbox.conditioning.tokens.family import TokenConditioning


class AsTheyAre(nn.Module):
    """X to X."""

    def forward(
        self, tokens: Float[Tensor, "batch token d_model"], visible: Bool[Tensor, "batch token"] | None
    ) -> Float[Tensor, "batch token d_model"]:
        return tokens


@TokenConditioning.variants.register("plain-tokens")
@dataclass(frozen=True, kw_only=True)
class PlainTokens(TokenConditioning):
    """No conditioning (Vaswani et al. 2017, arXiv 1706.03762, section 3.4)."""

    title: ClassVar[str] = "Plain tokens"
    sentence: ClassVar[str] = "The first layer reads token plus position embeddings as they are trained."
    equation: ClassVar[str] = r"X_t = E[x_t] + P[t]"
    source: ClassVar[str] = "Vaswani et al., arXiv 1706.03762, section 3.4"
    certainty: ClassVar[str] = "A: the standard definition"

    def build(self) -> nn.Module:
        """The identity in its first argument."""
        return AsTheyAre()
