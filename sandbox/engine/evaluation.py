"""Evaluation: loss and accuracy of every run on its full train and test sets."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from jaxtyping import Float, Int, Shaped

from sandbox.engine.gradient import sequence_losses
from sandbox.engine.stacking import VECTOR_ROWS, Parameters, StackedModel, stacks
from sandbox.tasks import Dataset

TRAIN_ROWS = 2048
"""A training set of at most so many rows is evaluated whole; of a larger one as many rows as are tested."""
BLOCK_FLOATS = 2**18  # runs x rows x tokens x width of one forward pass without gradients
STACK_OF_BLOCKS = 8  # runs of one such pass where runs are stacked


def evaluated_train_rows(n_train: int, n_test: int) -> int:
    """How many of the first training rows are evaluated: precise enough, and no dearer than the test set."""
    return n_train if n_train <= TRAIN_ROWS else min(TRAIN_ROWS, n_test)


Metrics = dict[str, Float[np.ndarray, " run"]]


class RowSet:
    """Rows of a group's data on its device, cut into blocks of one size that the setting alone fixes.

    There is one data set per run, or one that all share.
    """

    def __init__(
        self,
        tokens: Shaped[np.ndarray, "set row token"],
        targets: Int[np.ndarray, "set row"],
        n_runs: int,
        floats_per_sequence: int,
        stacked: bool,
        device: torch.device,
    ) -> None:
        self.n_rows = tokens.shape[1]
        at_once = BLOCK_FLOATS // (floats_per_sequence * (STACK_OF_BLOCKS if stacked else 1))
        n_blocks = -(-self.n_rows // max(at_once, VECTOR_ROWS))
        self.block = -(-self.n_rows // (n_blocks * VECTOR_ROWS)) * VECTOR_ROWS
        # Whole blocks only: the first rows fill the last one up and are cut off again.
        padded = np.resize(np.arange(self.n_rows), -(-self.n_rows // self.block) * self.block)
        self._tokens = torch.from_numpy(tokens[:, padded]).to(device).expand(n_runs, -1, -1)
        self._targets = torch.from_numpy(targets[:, padded]).to(device).expand(n_runs, -1)
        self._runs = stacks(n_runs, STACK_OF_BLOCKS if stacked else 1)

    def evaluate(
        self, model: StackedModel, parameters: Parameters, between: Callable[[], None] = lambda: None
    ) -> tuple[Float[np.ndarray, " run"], Shaped[np.ndarray, "run row"]]:
        """Mean loss of each run in float64, and for every row whether its class was found.

        `between` is called after each block: a large set takes longer than anyone waits for an answer.
        """
        loss, correct = [], []
        with torch.no_grad():
            for runs in self._runs:
                stack = {name: value[runs] for name, value in parameters.items()}
                for start in range(0, self._tokens.shape[1], self.block):
                    rows = slice(start, start + self.block)
                    targets = self._targets[runs, rows]
                    logits = model.logits(stack, self._tokens[runs, rows].long())
                    of_rows = sequence_losses(logits, targets)
                    loss.append(of_rows)
                    # A class read off NaN is chance: a diverged run finds none.
                    correct.append((logits.argmax(-1) == targets) & of_rows.isfinite())
                    between()
            n_blocks = self._tokens.shape[1] // self.block
            rows_of = [
                torch.cat([torch.cat(part[i : i + n_blocks], 1) for i in range(0, len(part), n_blocks)])
                for part in (loss, correct)
            ]
        mean = rows_of[0][:, : self.n_rows].double().mean(1)
        return mean.cpu().numpy(), rows_of[1][:, : self.n_rows].cpu().numpy()


def group_accuracies(correct: Shaped[np.ndarray, "run row"], data: Sequence[Dataset]) -> Metrics:
    """Accuracy of each labelled part of the test rows; NaN where a run's test set has no such row."""
    metrics: Metrics = {}
    for name, group in data[0].groups.items():
        n_labels = len(group.labels)
        found, rows = np.zeros((2, len(data), n_labels))
        for run, dataset in enumerate(data):
            index = dataset.groups[name].index
            rows[run] = np.bincount(index, minlength=n_labels)
            found[run] = np.bincount(index, weights=correct[run], minlength=n_labels)
        share = np.divide(found, rows, out=np.full_like(found, np.nan), where=rows > 0)
        for part, label in enumerate(group.labels):
            metrics[f"test_accuracy/{name}/{label}"] = share[:, part]
    return metrics
