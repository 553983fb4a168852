"""DeepNorm's initialization: sublayer outputs start smaller the deeper the model is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from sandbox.initialization.family import Initialization, Layer


def sublayer_gain(n_layers: int) -> float:
    """beta = (8 N)^(-1/4) of an encoder with N layers (Wang et al., arXiv 2203.00555, Figure 2)."""
    return float((8 * n_layers) ** -0.25)


@Initialization.variants.register("deepnorm-init")
@dataclass(frozen=True, kw_only=True)
class DeepNormInitialization(Initialization):
    """Xavier normal; feed-forward, W_V and W_O with gain (8N)^(-1/4) (Wang et al. 2022, arXiv 2203.00555)."""

    title: ClassVar[str] = "DeepNorm initialization"
    sentence: ClassVar[str] = (
        "Starts values, outputs and the feed-forward part smaller the more layers there are."
    )
    equation: ClassVar[str] = (
        r"\mathrm{std} = \beta\sqrt{2/(n_{\mathrm{in}}+n_{\mathrm{out}})},\quad "
        r"\beta = (8N_{\mathrm{layers}})^{-1/4}"
    )
    source: ClassVar[str] = "Wang et al., arXiv 2203.00555, Figure 2"
    certainty: ClassVar[str] = "A: stated by the paper's pseudo-code"
    our_reading: ClassVar[str] = (
        "It touches W_O and both matrices of the feed-forward part as well; biases keep their default start. "
        "It is meant for the placement 'deepnorm', which is chosen apart."
    )

    def overwrite(self, model: nn.Module, layers: Sequence[Layer]) -> None:
        """Set all matrices of every layer: W_Q and W_K with gain 1, the others with beta."""
        beta = sublayer_gain(len(layers))
        for layer in layers:
            attention = layer.attention
            chosen = [
                ("query", attention.w_query, 1.0),
                ("key", attention.w_key, 1.0),
                ("value", attention.w_value, beta),
                ("out", attention.w_out, beta),
            ]
            inner = [part for part in layer.feed_forward.modules() if isinstance(part, nn.Linear)]
            chosen += [(f"feed_forward.{number}", part, beta) for number, part in enumerate(inner)]
            for name, linear, gain in chosen:
                nn.init.xavier_normal_(linear.weight, gain, generator=layer.draw(f"deepnorm.{name}"))
