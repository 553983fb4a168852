"""Batches: which rows a run sees at a step, fixed by its seed and the epoch alone."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Int, Shaped
from torch import Tensor

from sandbox.foundations.errors import InvalidExperiment
from sandbox.foundations.seeding import numpy_generator
from sandbox.tasks import Dataset


def epoch_order(seed: int, epoch: int, n_rows: int) -> Int[np.ndarray, " row"]:
    """A permutation of the training rows: a pure function of seed, epoch and their number."""
    return numpy_generator(seed, "order", epoch).permutation(n_rows)


class Batches:
    """The training rows of a group on its device, and the batch of every run at a step.

    There is one data set per run, or one that all share. A last batch that would be short is dropped; a
    batch size above the number of rows takes them all. Tokens rest as the task's compact integers and
    become int64 in the batch.
    """

    def __init__(
        self,
        tokens: Shaped[np.ndarray, "set row token"],
        targets: Int[np.ndarray, "set row"],
        seeds: Sequence[int],
        batch_size: int,
        device: torch.device,
    ) -> None:
        n_sets, self.n_rows, self.n_tokens = tokens.shape
        self.seeds, self.n_runs = tuple(seeds), len(seeds)
        self._first_row = np.arange(self.n_runs) * self.n_rows if n_sets > 1 else np.zeros(self.n_runs, int)
        self.batch_size = min(batch_size, self.n_rows)
        self.per_epoch = self.n_rows // self.batch_size
        self.device = device
        self._tokens = torch.from_numpy(tokens).to(device).flatten(0, 1)
        self._targets = torch.from_numpy(targets).to(device).flatten()
        self._epoch = -1
        self._order = torch.empty(0)

    def at(self, step: int) -> tuple[Int[Tensor, "run batch token"], Int[Tensor, "run batch"]]:
        """Tokens and targets of every run for the update after `step` updates."""
        epoch, batch = divmod(step, self.per_epoch)
        if epoch != self._epoch:
            self._order, self._epoch = self._flat_order(epoch), epoch
        rows = self._order[batch]
        shape = (self.n_runs, self.batch_size)
        tokens = self._tokens.index_select(0, rows).long().view(*shape, self.n_tokens)
        return tokens, self._targets.index_select(0, rows).view(shape)

    def _flat_order(self, epoch: int) -> Int[Tensor, "batch row"]:
        """Rows of each batch of the epoch, all runs one after another, as rows of the flat data."""
        kept = self.per_epoch * self.batch_size
        order = np.stack([epoch_order(seed, epoch, self.n_rows)[:kept] for seed in self.seeds])
        order += self._first_row[:, None]
        by_batch = order.reshape(self.n_runs, self.per_epoch, self.batch_size).swapaxes(0, 1)
        return torch.from_numpy(by_batch.reshape(self.per_epoch, -1)).to(self.device)


def stacked_rows(
    data: Sequence[Dataset], part: str
) -> tuple[Shaped[np.ndarray, "set row token"], Int[np.ndarray, "set row"]]:
    """Tokens (set, row, token) and int64 targets (set, row) of train or test, one set if all share it."""
    if all(dataset is data[0] for dataset in data):
        data = data[:1]
    tokens = [getattr(dataset, f"{part}_tokens") for dataset in data]
    targets = [getattr(dataset, f"{part}_targets") for dataset in data]
    if len({array.shape for array in tokens}) != 1:
        raise InvalidExperiment(
            f"The {part} sets of the seeds have the shapes {sorted({array.shape for array in tokens})}; "
            f"runs of one group need equal shapes, so train these seeds in experiments of their own."
        )
    return np.stack(tokens), np.stack(targets).astype(np.int64)
