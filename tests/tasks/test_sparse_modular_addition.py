"""Sparse modular addition: the published draws, the disjoint split, and honest errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.foundations.errors import InvalidExperiment, InvalidKnob
from sandbox.foundations.plain import from_plain
from sandbox.tasks.sparse_modular_addition import SparseModularAddition


def test_the_reference_draw_is_the_published_one():
    data = SparseModularAddition(split="overlapping").data(0, reference_start=True)
    assert data.train_tokens[0].tolist() == [1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1]
    assert np.bincount(data.train_targets).tolist() == [1038, 1010]
    assert data.test_targets.sum() == 1055
    assert data.notes == ("828 of 2048 test rows also stand in train",)


def test_the_reference_start_ignores_the_split():
    reference = SparseModularAddition(split="disjoint").data(3, reference_start=True)
    overlapping = SparseModularAddition(split="overlapping").data(3)
    assert np.array_equal(reference.train_tokens, overlapping.train_tokens)


@given(
    modulus=st.integers(2, 5),
    length=st.integers(4, 9),
    seed=st.integers(0, 2**31 - 1),
    rows=st.integers(1, 8),
)
def test_a_disjoint_split_shares_no_row_and_sums_right(modulus, length, seed, rows):
    task = SparseModularAddition(modulus=modulus, length=length, n_terms=3, n_train=rows, n_test=rows)
    data = task.data(seed)
    train = {tuple(map(int, row)) for row in data.train_tokens}
    assert train.isdisjoint({tuple(map(int, row)) for row in data.test_tokens})
    assert len(train) == rows
    expected = [sum(map(int, row[:3])) % modulus for row in data.test_tokens]
    assert data.test_targets.tolist() == expected
    assert data.notes == (f"0 of {rows} test rows also stand in train",)


def test_long_sequences_are_split_by_rejection():
    data = SparseModularAddition(modulus=2, length=30, n_train=300, n_test=200).data(1)
    assert data.train_tokens.shape == (300, 30) and data.test_tokens.shape == (200, 30)
    assert data.notes[0].startswith("0 of 200")


def test_all_sequences_may_be_used_but_not_one_more():
    assert len(SparseModularAddition(length=4, n_terms=2, n_train=8, n_test=8).data(0).test_targets) == 8
    with pytest.raises(InvalidExperiment, match="needs more than the 16 sequences"):
        SparseModularAddition(length=4, n_terms=2, n_train=9, n_test=8)


def test_more_terms_than_tokens_is_refused():
    with pytest.raises(InvalidExperiment, match="only 4 tokens"):
        SparseModularAddition(length=4, n_terms=5)


@pytest.mark.parametrize("value", [1, 33, 2.5, float("nan"), True, "2", 10**400])
def test_a_modulus_outside_its_bounds_is_refused(value):
    with pytest.raises(InvalidKnob, match="Modulus p"):
        from_plain(SparseModularAddition, {"modulus": value})


def test_lines_are_those_of_the_test_set():
    data = SparseModularAddition().data(0)
    majority = np.bincount(data.test_targets).max() / 2048
    assert data.lines == {"chance": 0.5, "majority class": majority}
    assert data.loss_lines["uniform answer"] == pytest.approx(np.log(2))
    assert data.loss_lines["class frequencies"] <= np.log(2)
