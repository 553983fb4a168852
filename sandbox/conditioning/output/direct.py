"""Direct output: head outputs go on as they are."""

from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from sandbox.conditioning.output.family import OutputConditioning


@OutputConditioning.variants.register("direct")
@dataclass(frozen=True, kw_only=True)
class DirectOutput(OutputConditioning):
    """No conditioning (Vaswani et al. 2017, arXiv 1706.03762, section 3.2)."""

    title: ClassVar[str] = "Direct output"
    sentence: ClassVar[str] = "Head outputs are joined as attention computed them."
    equation: ClassVar[str] = "A = P V"
    source: ClassVar[str] = "Vaswani et al., arXiv 1706.03762, section 3.2"
    certainty: ClassVar[str] = "A: the standard definition"

    def build(self) -> nn.Module:
        """The identity."""
        return nn.Identity()
