"""Default initialization: what PyTorch's linear layer does."""

from dataclasses import dataclass
from typing import ClassVar

from sandbox.attention.skeleton import MultiHeadAttention
from sandbox.initialization.family import Draw, Initialization


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

    def overwrite(self, attention: MultiHeadAttention, draw: Draw) -> None:
        """Nothing: the layer already holds this start."""
