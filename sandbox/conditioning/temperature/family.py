"""Temperature: what scores are divided by before softmax makes weights of them."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from sandbox.foundations.idea import Idea
from sandbox.foundations.registry import Registry


class Scale(nn.Module, ABC):
    """What scores are multiplied by: one over the temperature."""

    @abstractmethod
    def forward(self) -> float | Tensor:
        """The scale of the present step."""


class FixedScale(Scale):
    """The same number at every step."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = scale

    def forward(self) -> float | Tensor:
        return self.scale


@dataclass(frozen=True, kw_only=True)
class Temperature(Idea, ABC):
    """Settings of one temperature, and the recipe for its module."""

    variants: ClassVar[Registry["Temperature"]] = Registry("softmax temperature")

    @abstractmethod
    def build(self, d_head: int) -> Scale:
        """Return the module that knows the scale."""
