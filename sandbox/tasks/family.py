"""Task: what is to be learned, as tokens and one class per sequence, with the lines to compare against."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Int, Shaped

from sandbox.foundations.idea import Idea
from sandbox.foundations.registry import Registry


@dataclass(frozen=True)
class Group:
    """A way to split the test rows, e.g. by root operator: a label per part, a part per row."""

    labels: tuple[str, ...]
    index: Int[np.ndarray, " test"]


@dataclass(frozen=True)
class Dataset:
    """Train and test rows of one seed; `lines` are accuracies, `loss_lines` nats, to draw and name."""

    train_tokens: Shaped[np.ndarray, "train token"]
    train_targets: Int[np.ndarray, " train"]
    test_tokens: Shaped[np.ndarray, "test token"]
    test_targets: Int[np.ndarray, " test"]
    groups: dict[str, Group] = field(default_factory=dict)
    lines: dict[str, float] = field(default_factory=dict)
    loss_lines: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Task(Idea, ABC):
    """Settings of one task, and the recipe for its data."""

    variants: ClassVar[Registry["Task"]] = Registry("task")

    @property
    @abstractmethod
    def n_tokens(self) -> int:
        """The longest sequence, padding included."""

    @property
    @abstractmethod
    def token_labels(self) -> tuple[str, ...]:
        """What each token id reads as; its length is the vocabulary size."""

    @property
    @abstractmethod
    def class_labels(self) -> tuple[str, ...]:
        """What each class reads as."""

    @property
    def pad_token(self) -> int | None:
        """The id that fills short sequences and is never attended to, or None."""
        return None

    @property
    def vocab_size(self) -> int:
        """Number of token ids."""
        return len(self.token_labels)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.class_labels)

    @abstractmethod
    def data(self, seed: int, reference_start: bool = False) -> Dataset:
        """Draw the rows of `seed`; `reference_start` asks for the published code's order of draws."""


def chance_and_majority(targets: Int[np.ndarray, " row"], n_classes: int) -> dict[str, float]:
    """Accuracy of guessing uniformly, and of always answering the most frequent class of `targets`."""
    majority = float(np.bincount(targets, minlength=n_classes).max() / len(targets))
    return {"chance": 1 / n_classes, "majority class": majority}


def base_rate_loss(targets: Int[np.ndarray, " row"], n_classes: int) -> dict[str, float]:
    """Cross-entropy in nats of a uniform answer and of always answering the class frequencies."""
    share = np.bincount(targets, minlength=n_classes) / len(targets)
    present = share[share > 0]
    return {
        "uniform answer": float(np.log(n_classes)),
        "class frequencies": float(-(present * np.log(present)).sum()),
    }
