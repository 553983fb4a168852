"""Projection conditioning: what W_Q, W_K and W_V become before they meet the tokens."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor, nn

from sandbox.foundations.idea import Idea
from sandbox.foundations.registry import Registry


class CarriedCorrection(nn.Module, ABC):
    """A correction with carried numbers that follow the weight as it is trained (`carried.py`)."""

    @abstractmethod
    def renewed(self, weight: Float[Tensor, "out in"], step: int) -> dict[str, Tensor]:
        """The carried numbers after `step` updates, by name within the module; those left out stay."""


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

    def added_operations(self, n_tokens: int, d_model: int, d_head: int) -> float:
        """Operations that correcting one head's projection of one sequence adds to its 2 N D d; 0: none."""
        return 0.0
