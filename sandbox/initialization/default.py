"""Default initialization: what PyTorch's linear layer does."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from sandbox.initialization.family import Initialization, Layer


@Initialization.variants.register("default")
@dataclass(frozen=True, kw_only=True)
class DefaultInitialization(Initialization):
    """Uniform in +-1/sqrt(d_model), as `torch.nn.Linear` (PyTorch documentation)."""

    title: ClassVar[str] = "Default initialization"
    sentence: ClassVar[str] = (
        "Projections start with small uniform random entries, as PyTorch's linear layer does."
    )
    equation: ClassVar[str] = r"W_{ij} \sim U(-1/\sqrt{D}, 1/\sqrt{D})"
    source: ClassVar[str] = "PyTorch, torch.nn.Linear"
    certainty: ClassVar[str] = "A: the library's documented behaviour"

    def overwrite(self, model: nn.Module, layers: Sequence[Layer]) -> None:
        """Nothing: the model already holds this start."""
