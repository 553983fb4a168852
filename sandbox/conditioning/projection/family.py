"""Projection conditioning: what W_Q, W_K and W_V become before they meet the tokens."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from sandbox.foundations.idea import Idea
from sandbox.foundations.registry import Registry


@dataclass(frozen=True, kw_only=True)
class ProjectionConditioning(Idea, ABC):
    """Settings of one correction, and the recipe for the modules that apply it."""

    variants: ClassVar[Registry["ProjectionConditioning"]] = Registry("projection conditioning")

    @abstractmethod
    def build(self, d_model: int, n_heads: int, which: str) -> nn.Module:
        """Return a module that maps a weight (d_model out, d_model in) to the corrected one.

        `which` is "query", "key" or "value"; heads are blocks of d_model / n_heads output rows
        (`nn.Linear` orientation: the transpose of the papers' W).
        """
