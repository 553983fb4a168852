"""Random ListOps expressions after the Long Range Arena's tree rule, many at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Integer, UInt8

from sandbox.foundations.errors import InvalidKnob
from sandbox.tasks.listops_grammar import OPERATORS
from sandbox.tasks.listops_rows import ListOpsSample, described
from sandbox.tasks.listops_vocabulary import CLOSE_CODE, DIGIT_CODE, OPERATOR_CODE, PAD_CODE

DRAWN_OPERATORS = ("MIN", "MAX", "MED", "SM")  # Tay et al. 2021; FIRST and LAST are read but not drawn
LARGEST_SIZE = 1 << 16  # tokens, levels or arguments: no model here reads more
LARGEST_SAMPLE = 1 << 31  # bytes of token rows at once
SHORTEST = 4  # tokens of an operator over two digits
MAX_TREES_PER_ROW = 2_000  # trees drawn for one kept before a length is called out of reach
NODES_AT_ONCE = 1 << 21  # bounds memory: about 100 MB of work arrays
STALLED = 0.9  # a draw that leaves this share of the missing rows open: too few expressions exist
MAX_ROUNDS = 12  # draws before two sides cannot be filled


@dataclass(frozen=True, eq=False)
class ListOpsSplits:
    """Training and test rows without a common expression.

    `distinct` says whether every row stands once; where too few expressions exist it is False, and
    `n_repeats` counts the rows beyond the first of their kind.
    """

    train: ListOpsSample
    test: ListOpsSample
    distinct: bool
    n_repeats: int


@dataclass(frozen=True, kw_only=True)
class TreeRule:
    """What is drawn: the knobs of the tree rule, checked; lengths are inclusive, in tokens."""

    operators: Sequence[str] = DRAWN_OPERATORS
    max_length: int = 32
    max_depth: int = 4
    max_args: int = 5
    operator_probability: float = 0.25
    min_length: int = SHORTEST

    def __post_init__(self) -> None:
        unknown = [name for name in self.operators if name not in OPERATORS]
        if unknown or not self.operators:
            named = f"'{unknown[0]}'" if unknown else "an empty list"
            raise InvalidKnob(f"ListOps operators hold {named}; choose among {', '.join(OPERATORS)}.")
        for name, value in (("max_args", self.max_args), ("max_depth", self.max_depth)):
            if not 2 <= value <= LARGEST_SIZE:
                raise InvalidKnob(f"ListOps {name} is {value}; take a number from 2 to {LARGEST_SIZE}.")
        if not 0 <= self.operator_probability <= 1:
            raise InvalidKnob(
                f"ListOps operator_probability is {self.operator_probability}; take a number from 0 to 1."
            )
        if not max(SHORTEST, self.min_length) <= self.max_length <= LARGEST_SIZE:
            raise InvalidKnob(
                f"ListOps lengths run from {self.min_length} to {self.max_length} tokens; max_length must be "
                f"{SHORTEST} to {LARGEST_SIZE} and not below min_length."
            )


LRA_SCALE = TreeRule(max_length=1999, max_depth=10, max_args=10, min_length=501)
"""The Long Range Arena's own scale: lengths strictly between 500 and 2000."""


def sample(
    n: int,
    rng: np.random.Generator,
    operators: Sequence[str] = DRAWN_OPERATORS,
    max_length: int = 32,
    max_depth: int = 4,
    max_args: int = 5,
    operator_probability: float = 0.25,
    min_length: int = SHORTEST,
) -> ListOpsSample:
    """Draw n independent rows: a tree outside the inclusive lengths is thrown away and drawn again.

    The root is an operator at depth 1; a node above `max_depth` is an operator with `operator_probability`,
    else a digit; arity is uniform from 2 to `max_args` (Tay et al. 2021, data/listops.py). Raises InvalidKnob
    for knobs out of bounds and for lengths that almost no tree has.
    """
    rule = TreeRule(
        operators=tuple(operators), max_length=max_length, max_depth=max_depth, max_args=max_args,
        operator_probability=operator_probability, min_length=min_length,
    )  # fmt: skip
    return sample_rule(n, rng, rule)


def sample_rule(n: int, rng: np.random.Generator, rule: TreeRule) -> ListOpsSample:
    """Draw n independent rows of the rule."""
    if not 0 <= n * rule.max_length <= LARGEST_SAMPLE:
        raise InvalidKnob(
            f"ListOps row count is {n}; of at most {rule.max_length} tokens take 0 to "
            f"{LARGEST_SAMPLE // rule.max_length} rows."
        )
    parts = [np.zeros((0, rule.max_length), dtype=np.uint8)]
    drawn = kept = 0
    while kept < n:
        share = max(kept, 1) / drawn if drawn else 1.0
        count = min(int(1.1 * (n - kept) / share) + 64, max(64, NODES_AT_ONCE // rule.max_length))
        parts.append(_draw_trees(count, rng, rule))
        drawn, kept = drawn + count, kept + len(parts[-1])
        if drawn > MAX_TREES_PER_ROW * max(kept, 100):
            raise InvalidKnob(
                f"Only {kept} of {drawn} ListOps trees have {rule.min_length} to {rule.max_length} tokens; "
                "widen the lengths, or change max_depth, max_args or operator_probability."
            )
    return described(np.concatenate(parts)[:n])


class _Grown(NamedTuple):
    """One level of drawn trees; arity 0 marks a digit."""

    row: np.ndarray
    code: np.ndarray
    arity: np.ndarray

    def of(self, trees: Bool[np.ndarray, " tree"]) -> "_Grown":
        """The nodes of the chosen trees."""
        chosen = trees[self.row]
        return _Grown(self.row[chosen], self.code[chosen], self.arity[chosen])


def _draw_trees(count: int, rng: np.random.Generator, rule: TreeRule) -> UInt8[np.ndarray, "kept token"]:
    """Grow `count` trees level by level, then write those of allowed length as PAD-padded rows.

    A tree that is already too long grows no further: it would be thrown away in any case.
    """
    drawable = np.array([OPERATOR_CODE + OPERATORS.index(name) for name in rule.operators], dtype=np.uint8)
    row = np.arange(count)
    is_operator = np.ones(count, dtype=bool)
    lengths = np.ones(count, dtype=np.int64)
    grown: list[_Grown] = []
    for level in range(1, rule.max_depth + 1):
        code = rng.integers(DIGIT_CODE, OPERATOR_CODE, len(row), dtype=np.uint8)
        arity = np.zeros(len(row), dtype=np.int64)
        n_operators = int(np.count_nonzero(is_operator))
        code[is_operator] = rng.choice(drawable, n_operators)
        arity[is_operator] = rng.integers(2, rule.max_args + 1, n_operators)
        lengths += np.bincount(row, arity + is_operator, minlength=count).astype(np.int64)
        arity[lengths[row] > rule.max_length] = 0
        grown.append(_Grown(row, code, arity))
        row = np.repeat(row, arity)
        if not len(row):
            break
        chance = rule.operator_probability if level + 1 < rule.max_depth else 0.0
        is_operator = rng.random(len(row)) < chance
    kept = (lengths >= rule.min_length) & (lengths <= rule.max_length)
    return _written([level.of(kept) for level in grown], kept, rule.max_length)


def _written(
    grown: Sequence[_Grown], kept: Bool[np.ndarray, " tree"], max_length: int
) -> UInt8[np.ndarray, "kept token"]:
    """Place every node of the kept trees: sizes from the leaves up, positions from the root down."""
    sizes: list[np.ndarray] = []
    for _, _, arity in reversed(grown):
        size = np.ones(len(arity), dtype=np.int64)
        operators = arity > 0
        if operators.any():
            below = np.concatenate([[0], np.cumsum(sizes[-1])])
            ends = np.cumsum(arity[operators])
            size[operators] = 2 + below[ends] - below[ends - arity[operators]]
        sizes.append(size)
    sizes.reverse()
    tokens = np.full((int(np.count_nonzero(kept)), max_length), PAD_CODE, dtype=np.uint8)
    new_row = np.cumsum(kept) - 1
    position = np.zeros(len(tokens), dtype=np.int64)
    sizes.append(np.zeros(0, dtype=np.int64))
    for (row, code, arity), size, below in zip(grown, sizes, sizes[1:], strict=False):
        tokens[new_row[row], position] = code
        closing = arity > 0
        tokens[new_row[row[closing]], (position + size)[closing] - 1] = CLOSE_CODE
        before = np.cumsum(below) - below  # tokens of all nodes to the left on the next level
        first = (np.cumsum(arity) - arity)[closing]
        shift = position[closing] + 1 - before[first]
        position = before + np.repeat(shift, arity[closing])
    return tokens


def splits(
    n_train: int,
    n_test: int,
    seed: int | np.random.Generator,
    operators: Sequence[str] = DRAWN_OPERATORS,
    max_length: int = 32,
    max_depth: int = 4,
    max_args: int = 5,
    operator_probability: float = 0.25,
    min_length: int = SHORTEST,
    repeats: bool = False,
) -> ListOpsSplits:
    """Draw training and test rows that share no expression, both of the same distribution.

    By default every row stands once, as in the Long Range Arena; this thins out the short expressions, of
    which there are few. With `repeats`, or where too few expressions exist, rows follow `sample` unthinned
    and all copies of an expression fall on one side. Raises InvalidKnob as `sample` does.
    """
    rng = np.random.default_rng(seed)
    rule = TreeRule(
        operators=tuple(operators), max_length=max_length, max_depth=max_depth, max_args=max_args,
        operator_probability=operator_probability, min_length=min_length,
    )  # fmt: skip
    if min(n_train, n_test) < 0:
        raise InvalidKnob(f"ListOps row counts are {n_train} and {n_test}; ask for 0 rows or more.")
    tokens = None if repeats else _distinct(n_train + n_test, rng, rule)
    if tokens is not None:
        tokens = tokens[rng.permutation(len(tokens))]  # the first found are the likeliest: mix before cutting
        train, test, distinct = tokens[:n_train], tokens[n_train:], True
    else:
        train, test = _apart(n_train, n_test, rng, rule)
        distinct = False
    n_repeats = sum(len(side) - _n_kinds(_kinds(side)) for side in (train, test))
    return ListOpsSplits(described(train), described(test), distinct, n_repeats)


def _kinds(tokens: UInt8[np.ndarray, "row token"]) -> Integer[np.ndarray, " row"]:
    """Number the different rows from 0 in the order in which they first come.

    One dictionary look-up per row: sorting would move whole rows, which is slow for long ones.
    """
    numbers: dict[bytes, int] = {}
    found = [numbers.setdefault(row.tobytes().rstrip(b"\0"), len(numbers)) for row in tokens]
    return np.array(found, dtype=np.int64)


def _n_kinds(kinds: Integer[np.ndarray, " row"]) -> int:
    return int(kinds.max(initial=-1)) + 1


def _distinct(n: int, rng: np.random.Generator, rule: TreeRule) -> UInt8[np.ndarray, "row token"] | None:
    """The first n different rows of an endless draw, or None where new ones hardly come any more."""
    tokens = np.zeros((0, rule.max_length), dtype=np.uint8)
    while len(tokens) < n:
        missing = n - len(tokens)
        tokens = np.concatenate([tokens, sample_rule(2 * missing + 64, rng, rule).tokens])
        tokens = tokens[np.unique(_kinds(tokens), return_index=True)[1]]
        if n - len(tokens) > STALLED * missing:
            return None
    return tokens[:n]


def _apart(
    n_train: int, n_test: int, rng: np.random.Generator, rule: TreeRule
) -> tuple[UInt8[np.ndarray, "train token"], UInt8[np.ndarray, "test token"]]:
    """Independent rows, cut so that every expression falls on one side with all its copies."""
    n = n_train + n_test
    for attempt in range(MAX_ROUNDS):
        tokens = sample_rule((1 + attempt) * (n + n // 4 + 64), rng, rule).tokens
        kinds = _kinds(tokens)
        n_kinds = _n_kinds(kinds)
        n_for_test = min(max(round(n_kinds * n_test / max(n, 1)), n_test > 0), n_kinds - (n_train > 0))
        in_test = (rng.permutation(n_kinds) < n_for_test)[kinds]
        train, test = tokens[~in_test][:n_train], tokens[in_test][:n_test]
        if len(train) == n_train and len(test) == n_test:
            return train, test
    raise InvalidKnob(
        f"ListOps rows of at most {rule.max_length} tokens are too few to keep {n_train} training and "
        f"{n_test} test rows apart; raise max_length or max_args, or ask for fewer rows."
    )
