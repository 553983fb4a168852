"""Layout: where each parameter of a model lies in a run's flat row of numbers."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, TypeVar

from torch import nn

ROW_MULTIPLE = 64
"""Rows are padded to whole vector registers, so that a run's numbers never depend on where its row ends."""

Rows = TypeVar("Rows", bound=Any)  # a torch.Tensor or a numpy.ndarray, (run, parameter)


def in_row_order(module: nn.Module) -> list[tuple[str, nn.Parameter]]:
    """The parameters as they follow each other in a row: trained ones, then lone numbers, then carried ones.

    Matrices come first, so that what is added to a model moves none of them off the lines that matrix
    kernels like.
    """
    return sorted(module.named_parameters(), key=lambda pair: (not pair[1].requires_grad, pair[1].ndim == 0))


@dataclass(frozen=True)
class Layout:
    """Names, shapes and offsets of the parameters, in the order of `in_row_order`.

    `size` numbers of a row have a meaning; the engine's buffers hold `stride` numbers per row. The last
    `n_carried` parameters are not trained.
    """

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    n_carried: int = 0

    @classmethod
    def of(cls, parameters: Iterable[tuple[str, Any]]) -> "Layout":
        """Read the layout off `in_row_order(module)`."""
        pairs = [(name, value) for name, value in parameters]
        n_carried = sum(not value.requires_grad for _, value in pairs)
        return cls(tuple(n for n, _ in pairs), tuple(tuple(value.shape) for _, value in pairs), n_carried)

    @property
    def carried(self) -> tuple[str, ...]:
        """Names of the parameters that no gradient reaches."""
        return self.names[len(self.names) - self.n_carried :]

    @property
    def trained_size(self) -> int:
        """Count of trained numbers of one run, which stand first."""
        return sum(self.sizes[: len(self.names) - self.n_carried])

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Count of numbers of each parameter."""
        return tuple(prod(shape) for shape in self.shapes)

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Where each parameter begins in the row."""
        sizes = self.sizes
        return tuple(sum(sizes[:i]) for i in range(len(sizes)))

    @cached_property
    def size(self) -> int:
        """Count of numbers of one run."""
        return sum(self.sizes)

    @cached_property
    def stride(self) -> int:
        """Length of a row in the engine's buffers: `size`, rounded up to whole vector registers."""
        return -(-self.size // ROW_MULTIPLE) * ROW_MULTIPLE

    def unflatten(self, theta: Rows) -> dict[str, Rows]:
        """Views of `theta` (run, parameter) by name, each (run, *shape); padding is left out."""
        return {
            name: theta[:, offset : offset + size].reshape(len(theta), *shape)
            for name, shape, offset, size in zip(
                self.names, self.shapes, self.offsets, self.sizes, strict=True
            )
        }

    def to_plain(self) -> dict[str, Any]:
        """The layout as JSON data, so that a stored row can be read without the model."""
        return {
            "names": list(self.names),
            "shapes": [list(shape) for shape in self.shapes],
            "n_carried": self.n_carried,
        }

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> "Layout":
        """The layout that `to_plain` wrote."""
        shapes = tuple(tuple(shape) for shape in plain["shapes"])
        return cls(tuple(plain["names"]), shapes, plain.get("n_carried", 0))
