"""Query and key normalization: what is done to queries and keys before they are compared."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from sandbox.foundations.idea import Idea
from sandbox.foundations.registry import Registry


@dataclass(frozen=True, kw_only=True)
class QueryKeyNormalization(Idea, ABC):
    """Settings of one normalization, and the recipe for its modules."""

    variants: ClassVar[Registry["QueryKeyNormalization"]] = Registry("query and key normalization")

    @abstractmethod
    def build(self, d_head: int, which: str) -> nn.Module:
        """Return a module that maps the "query" or "key" (batch, head, token, d_head) to the same shape."""
