"""Which rows a run sees is fixed by its seed and the step, whatever came before."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from sandbox.engine.batches import Batches, epoch_order

CPU = torch.device("cpu")


def numbered(n_runs: int, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose one token and target say which run and row they are."""
    row = np.arange(n_rows)[None, :] + 50 * np.arange(n_runs)[:, None]
    return row[..., None].astype(np.uint8), row.astype(np.int64)


@given(st.integers(0, 2**31 - 1), st.integers(0, 10**6), st.integers(1, 300))
def test_an_epoch_shows_every_row_once_in_an_order_of_its_own(seed: int, epoch: int, n_rows: int) -> None:
    order = epoch_order(seed, epoch, n_rows)
    assert np.array_equal(np.sort(order), np.arange(n_rows))
    assert np.array_equal(order, epoch_order(seed, epoch, n_rows))


def test_epochs_and_seeds_differ() -> None:
    orders = {tuple(epoch_order(seed, epoch, 40)) for seed in range(3) for epoch in range(3)}
    assert len(orders) == 9


def test_a_batch_depends_on_the_step_alone() -> None:
    walked = Batches(*numbered(2, 40), seeds=(3, 8), batch_size=16, device=CPU)
    in_turn = [walked.at(step) for step in range(9)]
    for step in (7, 2, 0, 8):
        tokens, targets = Batches(*numbered(2, 40), seeds=(3, 8), batch_size=16, device=CPU).at(step)
        assert torch.equal(tokens, in_turn[step][0]) and torch.equal(targets, in_turn[step][1])


def test_every_run_gets_its_own_rows_in_the_order_of_its_seed() -> None:
    tokens, targets = Batches(*numbered(2, 40), seeds=(3, 8), batch_size=16, device=CPU).at(3)
    assert tokens.dtype == targets.dtype == torch.int64
    assert torch.equal(tokens[..., 0], targets)
    for run, seed in enumerate((3, 8)):
        assert np.array_equal(targets[run], epoch_order(seed, 1, 40)[16:32] + 50 * run)


def test_runs_may_share_one_data_set_and_keep_their_own_order() -> None:
    _, targets = Batches(*numbered(1, 40), seeds=(3, 8), batch_size=16, device=CPU).at(3)
    for run, seed in enumerate((3, 8)):
        assert np.array_equal(targets[run], epoch_order(seed, 1, 40)[16:32])


def test_a_short_last_batch_is_dropped() -> None:
    batches = Batches(*numbered(1, 40), seeds=(0,), batch_size=16, device=CPU)
    assert batches.per_epoch == 2
    assert torch.equal(batches.at(2)[1][0], torch.from_numpy(epoch_order(0, 1, 40)[:16]))


def test_a_batch_larger_than_the_data_takes_every_row() -> None:
    tokens, targets = Batches(*numbered(1, 40), seeds=(0,), batch_size=64, device=CPU).at(5)
    assert tokens.shape == (1, 40, 1)
    assert np.array_equal(np.sort(targets[0]), np.arange(40))
