"""Sparse modular addition: add the first few tokens, modulo p, and ignore all the others."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Int

from sandbox.foundations.errors import InvalidExperiment
from sandbox.foundations.knobs import knob
from sandbox.foundations.streams import numpy_generator
from sandbox.tasks.family import Dataset, Task, base_rate_loss, chance_and_majority

ENUMERABLE = 2**20  # up to this many sequences the disjoint split permutes them all


@Task.variants.register("sparse modular addition")
@dataclass(frozen=True, kw_only=True)
class SparseModularAddition(Task):
    """Label = sum of the first k tokens mod p (Odonnat, Bouaziz & Cabannes, arXiv 2410.24050)."""

    title: ClassVar[str] = "Sparse modular addition"
    sentence: ClassVar[str] = "Add the first k tokens modulo p; the other tokens are noise to be ignored."
    equation: ClassVar[str] = r"y = \left(\sum_{t=1}^{k} x_t\right) \bmod p"
    source: ClassVar[str] = "Odonnat, Bouaziz & Cabannes, arXiv 2410.24050, section 2"
    certainty: ClassVar[str] = "A: stated by the paper and its official code"
    our_reading: ClassVar[str] = (
        "The paper draws train and test with replacement, so they overlap; the disjoint split is our default."
    )

    modulus: int = knob(2, "Modulus p", low=2, high=32, step=1, help="Tokens are 0 to p-1.")
    length: int = knob(12, "Sequence length", low=1, high=128, step=1)
    n_terms: int = knob(5, "Terms k", low=1, high=128, step=1, help="How many leading tokens count.")
    n_train: int = knob(2048, "Train rows", low=1, high=65536, step=1)
    n_test: int = knob(2048, "Test rows", low=1, high=16384, step=1)
    split: str = knob(
        "disjoint",
        "Split",
        options=("disjoint", "overlapping"),
        help="Overlapping draws both sets with replacement, as the paper does; test rows then also "
        "stand in train.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_terms > self.length:
            raise InvalidExperiment(
                f"Terms k is {self.n_terms} but the sequence has only {self.length} tokens; lower k or "
                f"raise the length."
            )
        if self.split == "disjoint" and self.n_train + self.n_test > self.modulus**self.length:
            raise InvalidExperiment(
                f"A disjoint split of {self.n_train} + {self.n_test} rows needs more than the "
                f"{self.modulus**self.length} sequences of {self.length} tokens modulo {self.modulus}; "
                "ask for fewer rows, a longer sequence, or the overlapping split."
            )

    @property
    def n_tokens(self) -> int:
        """Every sequence has the same length."""
        return self.length

    @property
    def token_labels(self) -> tuple[str, ...]:
        """The residues 0 to p-1."""
        return tuple(map(str, range(self.modulus)))

    @property
    def class_labels(self) -> tuple[str, ...]:
        """The residues 0 to p-1."""
        return self.token_labels

    def labels(self, tokens: Int[np.ndarray, "row token"]) -> Int[np.ndarray, " row"]:
        """The class of each row."""
        return tokens[:, : self.n_terms].astype(np.int64).sum(axis=1) % self.modulus

    def data(self, seed: int, reference_start: bool = False) -> Dataset:
        """Draw train and test; the reference start uses default_rng(seed), train first, as published."""
        if reference_start or self.split == "overlapping":
            rng = np.random.default_rng(seed)
            train = rng.integers(0, self.modulus, (self.n_train, self.length))
            test = rng.integers(0, self.modulus, (self.n_test, self.length))
        else:
            train, test = self._disjoint(numpy_generator(seed, "data"))
        overlap = int(np.isin(self._codes(test), self._codes(train)).sum())
        train_targets, test_targets = self.labels(train), self.labels(test)
        return Dataset(
            train.astype(np.uint8),
            train_targets,
            test.astype(np.uint8),
            test_targets,
            lines=chance_and_majority(test_targets, self.modulus),
            loss_lines=base_rate_loss(test_targets, self.modulus),
            notes=(f"{overlap} of {self.n_test} test rows also stand in train",),
        )

    def _disjoint(
        self, rng: np.random.Generator
    ) -> tuple[Int[np.ndarray, "train token"], Int[np.ndarray, "test token"]]:
        """Test rows never stand in train; without repeats where all sequences can be enumerated."""
        space = self.modulus**self.length
        if space <= ENUMERABLE:
            chosen = rng.permutation(space)[: self.n_train + self.n_test]
            place = self.modulus ** np.arange(self.length - 1, -1, -1)
            rows = chosen[:, None] // place % self.modulus
            return rows[: self.n_train], rows[self.n_train :]
        train = rng.integers(0, self.modulus, (self.n_train, self.length))
        test = np.empty((0, self.length), dtype=train.dtype)
        while len(test) < self.n_test:
            drawn = rng.integers(0, self.modulus, (self.n_test, self.length))
            test = np.concatenate([test, drawn[~np.isin(self._codes(drawn), self._codes(train))]])
        return train, test[: self.n_test]

    @staticmethod
    def _codes(rows: Int[np.ndarray, "row token"]) -> np.ndarray:
        """One comparable value per row: its bytes."""
        compact = np.ascontiguousarray(rows.astype(np.uint8))
        return compact.view(f"V{compact.shape[1]}").ravel()
