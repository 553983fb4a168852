"""Normal initialization: small Gaussian entries of one fixed spread, the custom of language models."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from sandbox.foundations.knobs import knob
from sandbox.initialization.family import Initialization, Layer


@Initialization.variants.register("normal-0.02")
@dataclass(frozen=True, kw_only=True)
class NormalInitialization(Initialization):
    """N(0, 0.02^2) whatever the width (Devlin et al. 2018, arXiv 1810.04805, and its code)."""

    title: ClassVar[str] = "Normal initialization"
    sentence: ClassVar[str] = (
        "Projections start with Gaussian entries of one small spread, whatever their width."
    )
    equation: ClassVar[str] = r"W_{ij} \sim N(0, \sigma^2)"
    source: ClassVar[str] = "Devlin et al., arXiv 1810.04805, initializer_range of the published code"
    certainty: ClassVar[str] = "A: stated by the code"
    our_reading: ClassVar[str] = (
        "W_Q, W_K, W_V and W_O are drawn, as there every linear layer of attention is; not truncated at two "
        "sigma; the feed-forward part keeps its default start."
    )

    std: float = knob(0.02, "Standard deviation", low=0.0001, high=1.0, step=0.01)
    w_out: bool = knob(True, "Also W_O", expert=True)

    def overwrite(self, model: nn.Module, layers: Sequence[Layer]) -> None:
        """Set W_Q, W_K, W_V, and W_O unless it is to be left alone."""
        with torch.no_grad():
            for layer in layers:
                for name in ("w_query", "w_key", "w_value", *(["w_out"] if self.w_out else [])):
                    weight = getattr(layer.attention, name).weight
                    weight.normal_(std=self.std, generator=layer.draw(f"normal.{name}"))
