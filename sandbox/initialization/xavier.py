"""Xavier initialization: entries sized so that signals keep their variance forwards and backwards."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from sandbox.foundations.knobs import knob
from sandbox.initialization.family import Initialization, Layer


@Initialization.variants.register("xavier")
@dataclass(frozen=True, kw_only=True)
class XavierInitialization(Initialization):
    """Uniform in +-sqrt(6 / (in + out)) (Glorot & Bengio 2010, Eq. 16; cf. arXiv 1706.03762)."""

    title: ClassVar[str] = "Xavier initialization"
    sentence: ClassVar[str] = "Projections start with uniform entries that keep the variance of what passes."
    equation: ClassVar[str] = r"W_{ij} \sim U(-b, b),\quad b = g\sqrt{6/(n_{\mathrm{in}}+n_{\mathrm{out}})}"
    source: ClassVar[str] = "Glorot & Bengio, AISTATS 2010, Eq. 16"
    certainty: ClassVar[str] = "A: the standard definition"
    our_reading: ClassVar[str] = (
        "W_Q, W_K and W_V count as D x D matrices each, in = out = D; W_O is left alone unless asked for."
    )

    gain: float = knob(1.0, "Gain", low=0.01, high=10.0, step=0.1, expert=True)
    w_out: bool = knob(False, "Also W_O", expert=True)

    def overwrite(self, model: nn.Module, layers: Sequence[Layer]) -> None:
        """Set W_Q, W_K, W_V, and W_O where asked for."""
        for layer in layers:
            names = ("w_query", "w_key", "w_value", *(["w_out"] if self.w_out else []))
            for name in names:
                weight = getattr(layer.attention, name).weight
                nn.init.xavier_uniform_(weight, self.gain, generator=layer.draw(f"xavier.{name}"))
