"""The probe batch: a fixed, small, class-balanced part of the test rows."""

import numpy as np
import pytest

from sandbox.diagnostics import probe_batch
from sandbox.tasks.listops import ListOps
from sandbox.tasks.sparse_modular_addition import SparseModularAddition

ADDITION = SparseModularAddition(n_train=64, n_test=200)
LISTOPS = ListOps(n_train=64, n_test=200)


def test_the_rows_are_test_rows_with_their_own_class() -> None:
    data = ADDITION.data(3)
    batch = probe_batch(ADDITION, data, 3)
    rows = {tuple(row) for row in data.test_tokens.tolist()}
    assert all(tuple(row) in rows for row in batch.tokens.tolist())
    assert np.array_equal(batch.classes, ADDITION.labels(batch.tokens))
    assert batch.source == "64 test sequences of seed 3, classes in turn" and batch.n_prefix == 5


def test_the_same_data_gives_the_same_batch_and_every_class_as_often() -> None:
    one, two = (probe_batch(ADDITION, ADDITION.data(0), 0) for _ in range(2))
    assert np.array_equal(one.tokens, two.tokens)
    assert np.bincount(one.classes).tolist() == [32, 32]
    assert one.labels[:4] == ("0", "1", "0", "1")


def test_a_short_batch_is_the_start_of_a_longer_one() -> None:
    data = ADDITION.data(0)
    short, long = (probe_batch(ADDITION, data, 0, n) for n in (5, 40))
    assert np.array_equal(short.tokens, long.tokens[:5])


def test_an_absent_class_is_passed_over() -> None:
    data = ADDITION.data(0)
    ones = data.test_targets == 1
    lopsided = type(data)(
        data.train_tokens, data.train_targets, data.test_tokens[ones], data.test_targets[ones]
    )
    assert set(probe_batch(ADDITION, lopsided, 0).classes) == {1}


@pytest.mark.parametrize(("length", "n_sequences"), [(12, 64), (16, 64), (32, 32), (64, 16), (128, 8)])
def test_longer_sequences_are_fewer_but_never_below_eight(length: int, n_sequences: int) -> None:
    task = SparseModularAddition(length=length, n_train=64, n_test=200, split="overlapping")
    assert probe_batch(task, task.data(0), 0).tokens.shape == (n_sequences, length)


def test_there_are_never_more_sequences_than_test_rows() -> None:
    task = SparseModularAddition(n_train=64, n_test=7)
    assert len(probe_batch(task, task.data(0), 0).tokens) == 7


def test_padding_is_invisible_and_a_sequence_reads_without_it() -> None:
    batch = probe_batch(LISTOPS, LISTOPS.data(0), 0)
    assert np.array_equal(batch.visible, batch.tokens != LISTOPS.pad_token)
    assert 0 < batch.visible.mean() < 1 and batch.n_prefix is None
    words = batch.sequence(0)
    assert words[0].startswith("[") and words[-1] == "]" and "PAD" not in words
