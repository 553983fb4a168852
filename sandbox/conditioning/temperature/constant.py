"""A constant temperature: how sharp attention is, as a number to play with."""

from dataclasses import dataclass
from typing import ClassVar

from sandbox.conditioning.temperature.family import FixedScale, Scale, Temperature
from sandbox.foundations.knobs import knob


@Temperature.variants.register("constant")
@dataclass(frozen=True, kw_only=True)
class ConstantTemperature(Temperature):
    """softmax(u / tau) with a chosen tau (Emadi, arXiv 2602.18849: its Jacobian's norm is theta / tau)."""

    title: ClassVar[str] = "Constant temperature"
    sentence: ClassVar[str] = "Scores are divided by a number of your choice: small is sharp, large is even."
    equation: ClassVar[str] = r"P = \mathrm{softmax}(Q K^\top / \tau)"
    source: ClassVar[str] = "Emadi, arXiv 2602.18849, section 2"
    certainty: ClassVar[str] = "A: the temperature of the exact sensitivity theta / tau"

    tau: float = knob(
        2.0, "Temperature τ", low=0.01, high=1000.0, step=0.5, live=True, help="sqrt(d_head) is the standard."
    )

    def build(self, d_head: int) -> Scale:
        """The scale 1 / tau."""
        return FixedScale(1 / self.tau)
