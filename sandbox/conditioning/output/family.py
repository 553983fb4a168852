"""Output conditioning: what is done to each head's output before the heads are joined."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from sandbox.foundations.idea import Idea
from sandbox.foundations.registry import Registry


@dataclass(frozen=True, kw_only=True)
class OutputConditioning(Idea, ABC):
    """Settings of one conditioning, and the recipe for its module."""

    variants: ClassVar[Registry["OutputConditioning"]] = Registry("output conditioning")

    @abstractmethod
    def build(self) -> nn.Module:
        """Return a module mapping head outputs (batch, head, token, d_head) to the same shape."""
