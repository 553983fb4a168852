"""The reference lines against a reader that goes through one tree at a time, and the published lines."""

import time
from collections import Counter

import numpy as np
import pytest

from sandbox.foundations.errors import InvalidData
from sandbox.tasks.listops_generator import LRA_SCALE, sample, sample_rule
from sandbox.tasks.listops_grammar import OPERATORS, apply, parse
from sandbox.tasks.listops_lines import reference_lines
from sandbox.tasks.listops_rows import described
from sandbox.tasks.listops_vocabulary import encode


def _rows(*texts):
    return described(np.stack([encode(text, 32) for text in texts]))


def _seen(node, k):
    """The value of a node when operators below k further levels are left out; None if nothing is left."""
    if node.operator is None:
        return node.value
    arguments = [] if k == 0 else [_seen(child, k - 1) for child in node.children]
    kept = [value for value in arguments if value is not None]
    return apply(node.operator, kept) if kept else None


def test_the_lines_are_those_of_a_reader_of_single_trees():
    drawn = sample(2000, np.random.default_rng(0), operators=OPERATORS, max_length=60, max_depth=6)
    roots = [parse(text) for text in drawn.texts()]
    by_root = {
        name: Counter(root.value for root in roots if root.operator == name).most_common(1)[0]
        for name in OPERATORS
    }
    lines = reference_lines(drawn)
    assert lines.majority == Counter(root.value for root in roots).most_common(1)[0][1] / 2000
    assert lines.root_only == sum(count for _, count in by_root.values()) / 2000
    for k, share in zip(lines.depths, lines.to_depth, strict=True):
        right = 0
        for root in roots:
            value = _seen(root, k)
            right += root.value == (by_root[root.operator][0] if value is None else value)
        assert share == pytest.approx(right / 2000, abs=0.006)  # equally common guesses may differ


def test_what_is_left_out_is_seen_by_hand():
    rows = _rows("[MAX 3 [MIN 7 8 ] 2 ]", "[MIN [MAX 1 2 ] [MAX 3 4 ] ]", "[SM 4 5 ]", "[SM 4 6 [SM 9 1 ] ]")
    lines = reference_lines(rows, depths=(1, 2, 5))
    assert lines.to_depth == (
        3 / 4,
        1.0,
        1.0,
    )  # only the first loses its 7; the second falls back on its root
    assert lines.root_only == 1.0 - 1 / 4
    assert lines.majority == 1 / 4


def test_short_snippets_have_their_measured_lines():
    lines = reference_lines(sample(40_000, np.random.default_rng(1)))
    assert lines.majority == pytest.approx(0.113, abs=0.01)
    assert lines.root_only == pytest.approx(0.234, abs=0.015)
    assert lines.to_depth[:2] == pytest.approx((0.663, 0.859), abs=0.01)
    assert lines.to_depth[2:] == (1.0, 1.0)
    assert list(lines.named()) == [
        "majority class",
        "root operator only",
        "exact to depth 1",
        "exact to depth 2",
    ]


def test_the_arenas_scale_has_its_measured_lines():
    lines = reference_lines(sample_rule(2000, np.random.default_rng(2), LRA_SCALE))
    assert lines.majority == pytest.approx(0.170, abs=0.025)
    assert lines.root_only == pytest.approx(0.360, abs=0.03)
    assert lines.to_depth == pytest.approx((0.484, 0.677, 0.800, 0.864), abs=0.03)


def test_guesses_may_come_from_other_rows():
    train = _rows("[MIN 1 2 ]", "[MIN 1 3 ]", "[MAX 1 1 ]")
    test = _rows("[MIN 1 5 ]", "[MAX 8 9 ]", "[SM 0 1 ]", "[SM 0 2 ]", "9")
    lines = reference_lines(test, fitted=train, depths=(1,))
    assert lines.majority == 2 / 5
    assert lines.root_only == 2 / 5  # SM and lone digits were not seen: the overall guess, 1
    assert lines.to_depth == (1.0,)


def test_no_rows_have_no_lines():
    rows = _rows("9")
    with pytest.raises(InvalidData, match="at least one row"):
        reference_lines(rows.take(np.zeros(0, dtype=np.int64)))
    with pytest.raises(InvalidData, match="at least one row"):
        reference_lines(rows, fitted=rows.take(np.zeros(0, dtype=np.int64)))


def test_two_thousand_rows_take_under_a_third_of_a_second():
    drawn = sample(2000, np.random.default_rng(3))
    start = time.process_time()
    reference_lines(drawn)
    assert time.process_time() - start < 0.3
