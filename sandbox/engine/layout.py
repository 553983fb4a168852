"""Layout: where each parameter of a model lies in a run's flat row of numbers."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Any, TypeVar

ROW_MULTIPLE = 64
"""Rows are padded to whole vector registers, so that a run's numbers never depend on where its row ends."""

Rows = TypeVar("Rows", bound=Any)  # a torch.Tensor or a numpy.ndarray, (run, parameter)


@dataclass(frozen=True)
class Layout:
    """Names, shapes and offsets of the parameters, in the order the model lists them.

    `size` numbers of a row have a meaning; the engine's buffers hold `stride` numbers per row.
    """

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, parameters: Iterable[tuple[str, Any]]) -> "Layout":
        """Read the layout off `module.named_parameters()`."""
        pairs = [(name, tuple(value.shape)) for name, value in parameters]
        return cls(tuple(name for name, _ in pairs), tuple(shape for _, shape in pairs))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Count of numbers of each parameter."""
        return tuple(prod(shape) for shape in self.shapes)

    @property
    def offsets(self) -> tuple[int, ...]:
        """Where each parameter begins in the row."""
        sizes = self.sizes
        return tuple(sum(sizes[:i]) for i in range(len(sizes)))

    @property
    def size(self) -> int:
        """Count of numbers of one run."""
        return sum(self.sizes)

    @property
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
        return {"names": list(self.names), "shapes": [list(shape) for shape in self.shapes]}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> "Layout":
        """The layout that `to_plain` wrote."""
        return cls(tuple(plain["names"]), tuple(tuple(shape) for shape in plain["shapes"]))
