"""Rows of ListOps expressions as token codes, with their values and what is asked about them."""

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Bool, Integer, UInt8

from sandbox.tasks.listops_levels import levels_of, node_values, operator_depth
from sandbox.tasks.listops_vocabulary import DIGIT_CODE, OPERATOR_CODE, decode


@dataclass(frozen=True, eq=False)
class ListOpsSample:
    """Rows of expressions with their values; `root_operator` counts along OPERATORS, -1 for a lone digit.

    `depth` counts nested operator levels, `lengths` tokens without padding.
    """

    tokens: UInt8[np.ndarray, "row token"]
    targets: Integer[np.ndarray, " row"]
    lengths: Integer[np.ndarray, " row"]
    root_operator: Integer[np.ndarray, " row"]
    depth: Integer[np.ndarray, " row"]

    def __len__(self) -> int:
        return len(self.tokens)

    def take(self, rows: Integer[np.ndarray, " chosen"] | Bool[np.ndarray, " row"]) -> "ListOpsSample":
        """The chosen rows, by index or by mask."""
        return ListOpsSample(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})

    def texts(self) -> Iterator[str]:
        """The expressions as text, `[MAX 2 9 ]`."""
        return (decode(row) for row in self.tokens)

    def file_lines(self) -> Iterator[str]:
        """`label TAB sequence` per row, the original files' layout, without line ends."""
        return (f"{value}\t{text}" for value, text in zip(self.targets, self.texts(), strict=True))


def described(tokens: UInt8[np.ndarray, "row token"]) -> ListOpsSample:
    """Work out values, lengths, root operators and depths of rows of well-formed tokens."""
    levels = levels_of(tokens)
    return ListOpsSample(
        tokens=tokens,
        targets=node_values(levels)[0] if levels else np.zeros(0, dtype=np.int64),
        lengths=np.count_nonzero(tokens >= DIGIT_CODE, axis=1),
        root_operator=_root_operator(levels[0].code) if levels else np.zeros(0, dtype=np.int64),
        depth=operator_depth(levels, len(tokens)),
    )


def _root_operator(code: UInt8[np.ndarray, " row"]) -> Integer[np.ndarray, " row"]:
    return np.maximum(code.astype(np.int64) - OPERATOR_CODE, -1)
