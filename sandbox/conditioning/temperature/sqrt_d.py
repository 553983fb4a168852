"""Temperature sqrt(d_head): the standard scale of attention scores."""

import math
from dataclasses import dataclass
from typing import ClassVar

from sandbox.conditioning.temperature.family import FixedScale, Scale, Temperature


@Temperature.variants.register("sqrt-d")
@dataclass(frozen=True, kw_only=True)
class SqrtTemperature(Temperature):
    """tau = sqrt(d_head) (Vaswani et al. 2017, arXiv 1706.03762, Eq. 1)."""

    title: ClassVar[str] = "Temperature sqrt(d)"
    sentence: ClassVar[str] = (
        "Scores are divided by the root of the head's width, which keeps their size independent of it."
    )
    equation: ClassVar[str] = r"\tau = \sqrt{d}"
    source: ClassVar[str] = "Vaswani et al., arXiv 1706.03762, Eq. 1"
    certainty: ClassVar[str] = "A: the standard definition"

    def build(self, d_head: int) -> Scale:
        """1 / sqrt(d_head)."""
        return FixedScale(1 / math.sqrt(d_head))
