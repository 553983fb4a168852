"""Many ListOps trees at once, level by level: reading token rows and working out every node's value."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Integer, UInt8

from sandbox.tasks.listops_grammar import MODULUS, OPERATORS
from sandbox.tasks.listops_vocabulary import CLOSE_CODE, DIGIT_CODE, OPERATOR_CODE

NARROW_LEVELS = 1 << 16  # 16-bit numbers sort ten times faster; deeper nesting is sorted as it is
_CELLS = 16  # room for ten digits in a sort key, as a power of two


@dataclass(frozen=True, eq=False)
class Level:
    """All nodes of one nesting level, in reading order; level 1 holds the roots.

    `row` is the node's row of tokens, `code` its opening token, `parent` counts the operators of the level
    above (-1 for roots), so that the arguments of one operator stand side by side.
    """

    row: Integer[np.ndarray, " node"]
    code: UInt8[np.ndarray, " node"]
    parent: Integer[np.ndarray, " node"]

    @property
    def is_operator(self) -> np.ndarray:
        """Which nodes have arguments on the next level."""
        return self.code >= OPERATOR_CODE


def well_formed(tokens: UInt8[np.ndarray, "row token"]) -> Bool[np.ndarray, " row"]:
    """Which PAD-padded rows spell one whole expression: closed at its last token and not before, no empty
    operator; a row that was cut to fit is none.
    """
    opens = (tokens >= OPERATOR_CODE) & (tokens < CLOSE_CODE)
    closes = tokens == CLOSE_CODE
    balance = np.cumsum(opens.view(np.int8) - closes.view(np.int8), axis=1, dtype=np.int32)
    used = tokens >= DIGIT_CODE
    lengths = np.count_nonzero(used, axis=1)
    column = np.arange(tokens.shape[1])
    unbroken = np.all(used == (column < lengths[:, None]), axis=1)
    open_before_the_end = np.all((balance > 0) | (column >= lengths[:, None] - 1), axis=1)
    closed = (lengths > 0) & np.all(balance[:, -1:] == 0, axis=1)
    empty_operator = np.any(opens[:, :-1] & closes[:, 1:], axis=1)
    return np.logical_and.reduce([unbroken, open_before_the_end, closed, ~empty_operator])


def levels_of(tokens: UInt8[np.ndarray, "row token"]) -> list[Level]:
    """Split rows of well-formed expressions (PAD and CLS are skipped) into their nesting levels."""
    row, column = np.nonzero(tokens >= DIGIT_CODE)
    code = tokens[row, column]
    opens = (code >= OPERATOR_CODE) & (code < CLOSE_CODE)
    closes = code == CLOSE_CODE
    level = np.cumsum(opens.view(np.int8).astype(np.int32) - closes.view(np.int8))
    level += code < OPERATOR_CODE  # a digit lies below the operator that is open around it
    nodes = np.flatnonzero(~closes)
    level = level[nodes]
    narrow = level.astype(np.uint16) if level.max(initial=0) < NARROW_LEVELS else level
    in_level_order = nodes[np.argsort(narrow, kind="stable")]
    levels = []
    start, above = 0, np.zeros(0, dtype=np.intp)
    for end in np.cumsum(np.bincount(level))[1:]:
        here = in_level_order[start:end]
        parent = np.searchsorted(above, here) - 1
        levels.append(Level(row[here], code[here], parent))
        start, above = end, here[opens[here]]
    return levels


def node_values(levels: Sequence[Level]) -> list[Integer[np.ndarray, " node"]]:
    """The value of every node, as one array per level, from the deepest level up."""
    values: list[np.ndarray] = []
    for level in reversed(levels):
        here = level.code.astype(np.int64) - DIGIT_CODE
        if values:
            operators = level.is_operator
            below = levels[len(levels) - len(values)]
            here[operators] = fold(level.code[operators], below.parent, values[-1])
        values.append(here)
    return values[::-1]


def fold(
    operator: UInt8[np.ndarray, " operator"],
    parent: Integer[np.ndarray, " argument"],
    values: Integer[np.ndarray, " argument"],
) -> Integer[np.ndarray, " operator"]:
    """Work out operators (token codes) from the values 0 to 9 of their arguments.

    `parent` is sorted and names every operator at least once.
    """
    if not len(operator):
        return np.zeros(0, dtype=np.int64)
    counts = np.bincount(parent, minlength=len(operator))
    first = np.cumsum(counts) - counts
    low, high = first + (counts - 1) // 2, first + counts // 2
    result = np.empty(len(operator), dtype=np.int64)
    for index, name in enumerate(OPERATORS):
        mine = operator == OPERATOR_CODE + index
        if not mine.any():
            continue
        if name == "MIN":
            found = np.minimum.reduceat(values, first)
        elif name == "MAX":
            found = np.maximum.reduceat(values, first)
        elif name == "SM":
            found = np.add.reduceat(values, first) % MODULUS
        elif name == "MED":
            ordered = np.sort(parent * _CELLS + values) % _CELLS
            found = (ordered[low] + ordered[high]) // 2
        else:
            found = values[first if name == "FIRST" else first + counts - 1]
        result[mine] = found[mine]
    return result


def evaluate_tokens(tokens: UInt8[np.ndarray, "row token"]) -> Integer[np.ndarray, " row"]:
    """The value of each row of tokens; rows must be well-formed and not empty."""
    levels = levels_of(tokens)
    return node_values(levels)[0] if levels else np.zeros(0, dtype=np.int64)


def operator_depth(levels: Sequence[Level], n_rows: int) -> Integer[np.ndarray, " row"]:
    """Nested operator levels per row: 0 for a digit alone, 1 for an operator over digits."""
    deepest = np.zeros(n_rows, dtype=np.int64)
    for number, level in enumerate(levels, start=1):
        deepest[level.row[level.is_operator]] = number
    return deepest
