"""Small model: every weight of a model so small that whoever draws it can work the model out again."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from sandbox.foundations.errors import InvalidData
from sandbox.foundations.provenance import Provenance, one_row, shaped


@dataclass(frozen=True, kw_only=True, eq=False)
class SmallModel:
    """The weights of each run in one row, and the probe sequences that its pictures show."""

    values: np.ndarray
    """(run, number): the weights one after the other, as `names` and `shapes` cut them."""
    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    tokens: tuple[tuple[int, ...], ...]
    """The probe sequences, as places in `token_labels`."""
    classes: tuple[int, ...]
    token_labels: tuple[str, ...]
    class_labels: tuple[str, ...]
    n_prefix: int | None = None
    """How many leading positions decide the class, where the task knows it."""
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        shaped("values", self.values, ("run", sum(prod(shape) for shape in self.shapes)))
        if len(self.names) != len(self.shapes) or len(self.tokens) != len(self.classes):
            raise InvalidData(
                f"There are {len(self.names)} names for {len(self.shapes)} shapes and {len(self.classes)} "
                f"classes for {len(self.tokens)} sequences; give one for each."
            )

    def weights(self) -> dict[str, np.ndarray]:
        """The weights by name, each (run, *shape), in float64."""
        found, at = {}, 0
        for name, shape in zip(self.names, self.shapes, strict=True):
            size = prod(shape)
            row = self.values[:, at : at + size].astype(np.float64)
            found[name] = row.reshape(len(self.values), *shape)
            at += size
        return found

    def for_run(self, index: int) -> "SmallModel":
        """The reading of one seed alone; the run axis stays, with length 1."""
        return replace(self, values=one_row(self.values, index))

    def meta(self) -> dict[str, Any]:
        """What does not change with the step, as JSON data, the provenance apart."""
        return {
            "columns": ["values"],
            "names": list(self.names),
            "shapes": [list(shape) for shape in self.shapes],
            "tokens": [list(sequence) for sequence in self.tokens],
            "classes": list(self.classes),
            "token_labels": list(self.token_labels),
            "class_labels": list(self.class_labels),
            "n_prefix": self.n_prefix,
        }

    @classmethod
    def of_meta(cls, values: np.ndarray, meta: Mapping[str, Any], provenance: Provenance) -> "SmallModel":
        """The reading whose `meta` and values were stored; KeyError where a part is missing."""
        return cls(
            values=values,
            names=tuple(meta["names"]),
            shapes=tuple(tuple(shape) for shape in meta["shapes"]),
            tokens=tuple(tuple(sequence) for sequence in meta["tokens"]),
            classes=tuple(meta["classes"]),
            token_labels=tuple(meta["token_labels"]),
            class_labels=tuple(meta["class_labels"]),
            n_prefix=meta["n_prefix"],
            provenance=provenance,
        )
