"""Temperature one: scores go into softmax as they are, as the papers' theory has it."""

from dataclasses import dataclass
from typing import ClassVar

from sandbox.conditioning.temperature.family import FixedScale, Scale, Temperature


@Temperature.variants.register("unit")
@dataclass(frozen=True, kw_only=True)
class UnitTemperature(Temperature):
    """tau = 1, as in the theory of spectral conditioning (Saratchandran & Lucey, arXiv 2603.07162)."""

    title: ClassVar[str] = "Temperature one"
    sentence: ClassVar[str] = "Scores are not divided at all, so that attention starts sharper."
    equation: ClassVar[str] = r"\tau = 1"
    source: ClassVar[str] = "Saratchandran & Lucey, arXiv 2603.07162, section 3; arXiv 2609.07086"
    certainty: ClassVar[str] = "A: the theory sections use s = 1; practice uses 1/sqrt(d)"

    def build(self, d_head: int) -> Scale:
        """The scale 1."""
        return FixedScale(1.0)
