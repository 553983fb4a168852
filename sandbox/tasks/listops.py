"""ListOps snippets: evaluate a nested list of MIN, MAX, MED and SM, read as a sequence of tokens."""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from sandbox.foundations.errors import InvalidExperiment
from sandbox.foundations.knobs import knob
from sandbox.foundations.streams import numpy_generator
from sandbox.tasks.family import Dataset, Group, Task, base_rate_loss
from sandbox.tasks.listops_generator import splits
from sandbox.tasks.listops_grammar import OPERATORS
from sandbox.tasks.listops_lines import reference_lines
from sandbox.tasks.listops_vocabulary import PAD_CODE, VOCABULARY

N_CLASSES = 10


@Task.variants.register("listops")
@dataclass(frozen=True, kw_only=True)
class ListOps(Task):
    """Long Range Arena's ListOps at snippet length (Tay et al., arXiv 2011.04006; Nangia & Bowman 2018)."""

    title: ClassVar[str] = "ListOps snippets"
    sentence: ClassVar[str] = "Work out a nested list such as [MAX 2 [MIN 4 7 ] 0 ]; the answer is a digit."
    equation: ClassVar[str] = r"y = \mathrm{value}(\text{tree}),\; \mathrm{SM} = \text{sum mod } 10"
    source: ClassVar[str] = "Tay et al., arXiv 2011.04006, section 2.1; Nangia & Bowman, arXiv 1804.06028"
    certainty: ClassVar[str] = "A: the generator's semantics are those of the public code"
    our_reading: ClassVar[str] = (
        "Snippets keep the tree rule at a smaller depth, arity and length; repeated short expressions "
        "are kept, all "
        "copies on one side of the split. The rows come from the data seed, the same for all seeds of a run."
    )

    operators: str = knob(
        "MIN MAX MED SM",
        "Operators",
        options=("MIN MAX", "MIN MAX MED", "MIN MAX MED SM"),
        help="Drawn uniformly.",
    )
    max_length: int = knob(32, "Longest sequence", low=8, high=2048, step=8)
    min_length: int = knob(4, "Shortest sequence", low=3, high=1024, step=1, expert=True)
    max_depth: int = knob(
        4,
        "Tree depth",
        low=2,
        high=16,
        step=1,
        help="Levels of operators plus one for the digits.",
        expert=True,
    )
    max_args: int = knob(5, "Most arguments", low=2, high=16, step=1, expert=True)
    n_train: int = knob(50000, "Train rows", low=64, high=200000, step=1)
    n_test: int = knob(2000, "Test rows", low=64, high=16384, step=1)
    data_seed: int = knob(0, "Data seed", low=0, high=2**31 - 1, step=1, expert=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_length > self.max_length:
            raise InvalidExperiment(
                f"The shortest sequence is {self.min_length} but the longest {self.max_length}; lower "
                f"the shortest."
            )
        if (self.n_train + self.n_test) * self.max_length > 2**27:
            raise InvalidExperiment(
                f"{self.n_train + self.n_test} rows of {self.max_length} tokens exceed 128 MB; lower "
                f"the rows or length."
            )

    @property
    def n_tokens(self) -> int:
        """The longest sequence; shorter ones are padded."""
        return self.max_length

    @property
    def token_labels(self) -> tuple[str, ...]:
        """The fixed vocabulary."""
        return VOCABULARY

    @property
    def class_labels(self) -> tuple[str, ...]:
        """The digits."""
        return tuple(map(str, range(N_CLASSES)))

    @property
    def pad_token(self) -> int | None:
        """PAD, never attended to."""
        return PAD_CODE

    def data(self, seed: int, reference_start: bool = False) -> Dataset:
        """The rows of the data seed; the run's `seed` changes weights and order only."""
        return _rows(self)


@lru_cache(maxsize=4)
def _rows(task: ListOps) -> Dataset:
    names = tuple(task.operators.split())
    drawn = splits(
        task.n_train,
        task.n_test,
        numpy_generator(task.data_seed, "listops"),
        operators=names,
        max_length=task.max_length,
        max_depth=task.max_depth,
        max_args=task.max_args,
        min_length=task.min_length,
        repeats=True,
    )
    test = drawn.test
    depths, roots = np.unique(test.depth), np.unique(test.root_operator)
    return Dataset(
        drawn.train.tokens,
        drawn.train.targets.astype(np.int64),
        test.tokens,
        test.targets.astype(np.int64),
        groups={
            "root operator": Group(
                tuple(OPERATORS[r] for r in roots), np.searchsorted(roots, test.root_operator)
            ),
            "depth": Group(tuple(f"depth {d}" for d in depths), np.searchsorted(depths, test.depth)),
        },
        lines={"chance": 1 / N_CLASSES} | reference_lines(test).named(),
        loss_lines=base_rate_loss(test.targets.astype(np.int64), N_CLASSES),
        notes=(
            f"train and test share no expression; {drawn.n_repeats} rows repeat one of their own side",
            f"mean length {test.lengths.mean():.1f} of at most {task.max_length} tokens",
        ),
    )
