"""Token conditioning: what the embedded tokens become before the first layer reads them."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from sandbox.foundations.idea import Idea
from sandbox.foundations.registry import Registry


@dataclass(frozen=True, kw_only=True)
class TokenConditioning(Idea, ABC):
    """Settings of one conditioning, and the recipe for its module."""

    variants: ClassVar[Registry["TokenConditioning"]] = Registry("token conditioning")

    @abstractmethod
    def build(self) -> nn.Module:
        """Return a module called with (tokens, visible).

        tokens: (batch, token, d_model), embeddings plus positions; visible: (batch, token) bool or None.
        It answers tokens of the same shape, on which padding has no influence.
        """
