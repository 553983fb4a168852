"""Architecture: a model for one run, as an ordinary module with probes."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Float, Int
from torch import Tensor, nn

from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.idea import Idea
from sandbox.foundations.registry import Registry
from sandbox.tasks import Task


class SequenceClassifier(nn.Module, ABC):
    """Maps tokens (batch, token) to logits (batch, class); its probes are what diagnostics read."""

    @abstractmethod
    def forward(self, tokens: Int[Tensor, "batch token"]) -> Float[Tensor, "batch class"]:
        """Class scores of each sequence."""

    @abstractmethod
    def projections(self) -> dict[str, Tensor]:
        """Per-head matrices as corrected, (layer, head, d_model, d_head), by "query", "key", "value"."""


@dataclass(frozen=True, kw_only=True)
class Architecture(Idea, ABC):
    """Settings of one architecture, and the recipe for its module."""

    variants: ClassVar[Registry["Architecture"]] = Registry("architecture")
    slots_without_effect: ClassVar[dict[str, NotApplicable]] = {}
    """Slots an arm may name elsewhere that mean nothing here, each with its reason."""
    has_reference_start: ClassVar[bool] = False

    @abstractmethod
    def build(self, task: Task, seed: int, reference_start: bool = False) -> SequenceClassifier:
        """Return the module with the starting weights of `seed`; the global random state is left alone."""
