"""Temperature warm-up: attention starts nearly even and sharpens to the standard over the first steps."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from sandbox.conditioning.carried import Carrier, carried
from sandbox.conditioning.temperature.family import Scale, Temperature
from sandbox.foundations.knobs import knob


class WarmUpScale(Scale, Carrier):
    """1 / tau(step), carried in the run's row, so that a stored step knows its own temperature."""

    def __init__(self, d_head: int, factor: float, steps: int) -> None:
        super().__init__()
        self.d_head, self.factor, self.steps = d_head, factor, steps
        self.scale = carried(torch.tensor(self.at(0)))

    def at(self, step: int) -> float:
        """The scale after `step` updates."""
        left = max(0.0, 1 - step / self.steps)
        return 1 / (math.sqrt(self.d_head) * (1 + (self.factor - 1) * left))

    def forward(self) -> float | Tensor:
        return self.scale.detach()

    def renewed(self, step: int) -> dict[str, Tensor]:
        return {"scale": torch.full_like(self.scale, self.at(step))}


@Temperature.variants.register("warm-up")
@dataclass(frozen=True, kw_only=True)
class WarmUpTemperature(Temperature):
    """tau falls linearly to sqrt(d): a schedule of this sandbox (cf. Emadi, arXiv 2602.18849)."""

    title: ClassVar[str] = "Temperature warm-up"
    sentence: ClassVar[str] = (
        "Starts with a high temperature, so attention is nearly even, and lowers it to sqrt(d) step by step."
    )
    equation: ClassVar[str] = r"\tau(t) = \sqrt{d}\,\bigl(1 + (f - 1)\max(0, 1 - t/n)\bigr)"
    source: ClassVar[str] = "A schedule of this sandbox; why temperature matters: Emadi, arXiv 2602.18849"
    certainty: ClassVar[str] = "D: no paper of ours states the schedule's form"
    our_reading: ClassVar[str] = (
        "The decay is linear in the step, from a factor times sqrt(d) to sqrt(d) itself."
    )

    factor: float = knob(
        4.0, "Start factor", low=1.0, high=1000.0, step=1.0, help="How many times sqrt(d) the start is."
    )
    steps: int = knob(
        200, "Warm-up steps of the temperature", low=1, high=1_000_000, step=10, help="Then it is sqrt(d)."
    )

    def build(self, d_head: int) -> Scale:
        """The scale that every step renews."""
        return WarmUpScale(d_head, self.factor, self.steps)
