"""ListOps as a task: groups, lines and data that every seed shares."""

import numpy as np
import pytest

from sandbox.foundations.errors import InvalidExperiment
from sandbox.tasks.listops import ListOps
from sandbox.tasks.listops_grammar import evaluate
from sandbox.tasks.listops_vocabulary import decode

SMALL = ListOps(operators="MIN MAX MED", n_train=500, n_test=300)


def test_targets_are_the_values_of_the_expressions():
    data = SMALL.data(0)
    assert [evaluate(decode(row)) for row in data.test_tokens[:50]] == data.test_targets[:50].tolist()


def test_every_seed_sees_the_same_rows_and_another_data_seed_others():
    assert SMALL.data(0) is SMALL.data(5)
    other = ListOps(operators="MIN MAX MED", n_train=500, n_test=300, data_seed=1).data(0)
    assert not np.array_equal(other.train_tokens, SMALL.data(0).train_tokens)


def test_groups_split_the_test_rows_by_root_operator_and_depth():
    groups = SMALL.data(0).groups
    assert groups["root operator"].labels == ("MIN", "MAX", "MED")
    roots = [groups["root operator"].labels[i] for i in groups["root operator"].index[:40]]
    assert roots == [decode(row).split()[0][1:] for row in SMALL.data(0).test_tokens[:40]]
    assert set(groups["depth"].labels) <= {"depth 1", "depth 2", "depth 3"}


def test_reference_lines_rise_from_chance_to_depth():
    lines = list(SMALL.data(0).lines.values())
    assert lines[0] == pytest.approx(0.1) and lines == sorted(lines)


def test_a_shortest_sequence_above_the_longest_is_refused():
    with pytest.raises(InvalidExperiment, match="lower the shortest"):
        ListOps(max_length=32, min_length=40)


def test_data_beyond_memory_is_refused():
    with pytest.raises(InvalidExperiment, match="exceed 128 MB"):
        ListOps(max_length=2048, n_train=200_000)
