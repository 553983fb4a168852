"""The probe batch: the few test sequences that every diagnostic looks at, the same at every step."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int, Integer

from sandbox.tasks import Dataset, Task

MOST_SEQUENCES = 64
FEWEST_SEQUENCES = 8
TOKEN_BUDGET = 1024  # 64 sequences of up to 16 tokens, 32 of 32 tokens: a snapshot stays cheap


@dataclass(frozen=True, kw_only=True, eq=False)
class Probe:
    """Sequences with everything a picture needs to name them; shared by all arms and seeds."""

    tokens: Int[np.ndarray, "batch token"]
    visible: Bool[np.ndarray, "batch token"]
    """False on padding, which no statistic counts."""
    classes: Int[np.ndarray, " batch"]
    token_labels: tuple[str, ...]
    class_labels: tuple[str, ...]
    n_prefix: int | None = None
    """How many leading positions decide the class, where the task knows it."""
    source: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """The class of each sequence, as it reads."""
        return tuple(self.class_labels[c] for c in self.classes)

    def sequence(self, row: int) -> tuple[str, ...]:
        """The visible tokens of one sequence, as they read."""
        return tuple(self.token_labels[t] for t in self.tokens[row][self.visible[row]])


def probe_batch(task: Task, data: Dataset, seed: int, n_sequences: int | None = None) -> Probe:
    """The first test rows of `seed`'s data, taken in turn from every class.

    `n_sequences` defaults to 64 for up to 16 tokens and to fewer for longer sequences (1024 tokens in
    all, at least 8 sequences); never more than there are test rows.
    """
    if n_sequences is None:
        n_sequences = min(MOST_SEQUENCES, max(FEWEST_SEQUENCES, TOKEN_BUDGET // task.n_tokens))
    rows = _in_turn(data.test_targets)[:n_sequences]
    tokens = data.test_tokens[rows].astype(np.int64)
    pad = task.pad_token
    return Probe(
        tokens=tokens,
        visible=np.ones(tokens.shape, dtype=np.bool_) if pad is None else tokens != pad,
        classes=data.test_targets[rows],
        token_labels=task.token_labels,
        class_labels=task.class_labels,
        n_prefix=getattr(task, "n_terms", None),  # only sparse modular addition has a prefix that decides
        source=f"{len(rows)} test sequences of seed {seed}, classes in turn",
    )


def _in_turn(targets: Integer[np.ndarray, " row"]) -> Int[np.ndarray, " row"]:
    """All rows, ordered so that the k-th of every class comes before the (k+1)-th of any."""
    by_class = np.argsort(targets, kind="stable")
    starts = np.searchsorted(targets[by_class], targets[by_class])
    rank = np.empty(len(targets), dtype=np.int64)
    rank[by_class] = np.arange(len(targets)) - starts
    return np.lexsort((targets, rank))
