"""Drawn expressions against the grammar's evaluator, a slow sampler and the promises of the splits."""

import random
import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.foundations.errors import InvalidKnob
from sandbox.tasks.listops_generator import LRA_SCALE, TreeRule, sample, sample_rule, splits
from sandbox.tasks.listops_grammar import OPERATORS, depth, length, parse, walk
from sandbox.tasks.listops_levels import evaluate_tokens
from sandbox.tasks.listops_rows import described
from sandbox.tasks.listops_vocabulary import DIGIT_CODE, VOCABULARY, encode


def _agrees_with_the_grammar(drawn):
    for row, text in enumerate(drawn.texts()):
        root = parse(text)
        assert drawn.targets[row] == root.value
        assert drawn.lengths[row] == length(root)
        assert drawn.depth[row] == depth(root)
        assert drawn.root_operator[row] == (OPERATORS.index(root.operator) if root.operator else -1)
        assert np.array_equal(drawn.tokens[row], encode(text, max_length=drawn.tokens.shape[1]))


def _slow_tree(draw, level, max_depth=4, max_args=5):
    """The published rule, one tree at a time: its tokens as text."""
    if level > 1 and (level == max_depth or draw.random() > 0.25):
        return [str(draw.randrange(10))]
    name = draw.choice(["MIN", "MAX", "MED", "SM"])
    arguments = [_slow_tree(draw, level + 1, max_depth, max_args) for _ in range(draw.randint(2, max_args))]
    return ["[" + name, *(token for argument in arguments for token in argument), "]"]


def test_drawn_rows_have_the_grammars_values():
    _agrees_with_the_grammar(sample(2000, np.random.default_rng(0)))


def test_all_six_operators_are_worked_out_alike():
    drawn = sample(500, np.random.default_rng(1), operators=OPERATORS, max_length=60, max_depth=6, max_args=7)
    assert set(drawn.root_operator) == set(range(6))
    _agrees_with_the_grammar(drawn)


def test_the_arenas_own_scale_is_reached_and_right():
    drawn = sample_rule(12, np.random.default_rng(2), LRA_SCALE)
    assert drawn.lengths.min() > 500 and drawn.lengths.max() < 2000
    _agrees_with_the_grammar(drawn)


@settings(max_examples=30)
@given(
    operators=st.lists(st.sampled_from(OPERATORS), min_size=1, max_size=6, unique=True),
    max_length=st.integers(8, 40),
    max_depth=st.integers(2, 6),
    max_args=st.integers(2, 6),
    probability=st.floats(0, 0.5),
    seed=st.integers(0, 2**32 - 1),
)
def test_every_row_obeys_the_rule(operators, max_length, max_depth, max_args, probability, seed):
    drawn = sample(7, np.random.default_rng(seed), operators, max_length, max_depth, max_args, probability)
    assert drawn.tokens.shape == (7, max_length) and drawn.tokens.dtype == np.uint8
    for text in drawn.texts():
        root = parse(text)
        assert length(root) <= max_length
        assert 1 <= depth(root) <= max_depth - 1
        for node, _ in walk(root):
            assert node.operator in (*operators, None)
            assert node.operator is None or 2 <= len(node.children) <= max_args


def test_lengths_depths_and_roots_are_distributed_as_a_slow_sampler_has_them():
    draw, slow = random.Random(3), []
    while len(slow) < 20_000:
        tree = _slow_tree(draw, 1)
        if len(tree) <= 32:
            slow.append(tree)
    fast = sample(40_000, np.random.default_rng(4))

    def alike(ours, theirs):
        for value in set(ours) | set(theirs):
            p, q = ours[value] / 40_000, theirs[value] / 20_000
            spread = np.sqrt(max(p, q) * (1 / 40_000 + 1 / 20_000))
            assert abs(p - q) < 5 * spread, value

    alike(Counter(fast.lengths.tolist()), Counter(map(len, slow)))
    tokens = fast.tokens[fast.tokens > 0]
    alike_share = np.bincount(tokens, minlength=19) / len(tokens)
    counted = Counter(token for tree in slow for token in tree)
    for code, text in enumerate(VOCABULARY):
        assert alike_share[code] == pytest.approx(counted[text] / sum(counted.values()), abs=0.003)
    levels = Counter(max(np.cumsum([t.startswith("[") - (t == "]") for t in tree])) for tree in slow)
    alike(Counter(fast.depth.tolist()), levels)
    assert fast.lengths.mean() == pytest.approx(12, abs=0.2)


def test_the_same_generator_state_gives_the_same_rows():
    one, two, other = (sample(50, np.random.default_rng(seed)).tokens for seed in (5, 5, 6))
    assert np.array_equal(one, two) and not np.array_equal(one, other)


def test_rows_stay_within_inclusive_lengths():
    drawn = sample(500, np.random.default_rng(7), min_length=9, max_length=11)
    assert set(drawn.lengths) == {9, 10, 11}


def test_twenty_thousand_rows_take_under_half_a_second():
    start = time.process_time()
    sample(20_000, np.random.default_rng(8))
    assert time.process_time() - start < 0.5


@pytest.mark.parametrize("n", [0, 1])
def test_hardly_any_rows_are_rows_too(n):
    drawn = sample(n, np.random.default_rng(9))
    assert len(drawn) == n and drawn.tokens.shape == (n, 32) and drawn.targets.shape == (n,)


def test_a_lone_digit_among_rows_is_its_own_value():
    rows = described(np.stack([encode("7", 6), encode("[SM 8 9 ]", 6)]))
    assert rows.targets.tolist() == [7, 7]
    assert rows.depth.tolist() == [0, 1]
    assert rows.root_operator.tolist() == [-1, OPERATORS.index("SM")]
    assert rows.lengths.tolist() == [1, 4]
    assert list(rows.take(np.array([1])).texts()) == ["[SM 8 9 ]"]


def test_an_operator_with_one_argument_is_worked_out():
    rows = np.stack([encode(text, 8) for text in ("[MED 7 ]", "[SM [MIN 4 ] 9 ]", "[LAST 1 [MAX 3 ] ]")])
    assert evaluate_tokens(rows).tolist() == [7, 3, 3]


def test_knobs_out_of_bounds_are_refused_by_name():
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidKnob, match="'SUM'"):
        sample(1, rng, operators=("MIN", "SUM"))
    with pytest.raises(InvalidKnob, match="empty list"):
        sample(1, rng, operators=())
    with pytest.raises(InvalidKnob, match="max_args is 1"):
        sample(1, rng, max_args=1)
    with pytest.raises(InvalidKnob, match="max_depth is 1"):
        sample(1, rng, max_depth=1)
    with pytest.raises(InvalidKnob, match="operator_probability is nan"):
        sample(1, rng, operator_probability=float("nan"))
    with pytest.raises(InvalidKnob, match="from 40 to 32 tokens"):
        sample(1, rng, min_length=40)
    with pytest.raises(InvalidKnob, match="row count is -1"):
        sample(-1, rng)
    with pytest.raises(InvalidKnob, match="max_args is 1000000000"):
        sample(1, rng, max_args=10**9)
    with pytest.raises(InvalidKnob, match="to 1000000000 tokens"):
        sample(1, rng, max_length=10**9)
    with pytest.raises(InvalidKnob, match="take 0 to 32768 rows"):
        sample(40_000, rng, max_length=65536)
    with pytest.raises(InvalidKnob, match="Only 0 of"):
        sample(1, rng, max_depth=2, max_args=2, min_length=9)
    assert TreeRule(operators=["MIN"]).max_length == 32


def _kinds(drawn):
    return {row.tobytes() for row in drawn.tokens}


def test_splits_hold_every_expression_once():
    made = splits(3000, 500, seed=0)
    assert (len(made.train), len(made.test), made.distinct, made.n_repeats) == (3000, 500, True, 0)
    assert len(_kinds(made.train) | _kinds(made.test)) == 3500
    _agrees_with_the_grammar(made.test)


def test_both_splits_have_one_distribution():
    made = splits(6000, 6000, seed=1)
    difference = made.train.lengths.mean() - made.test.lengths.mean()
    assert abs(difference) < 5 * made.train.lengths.std() * np.sqrt(2 / 6000)


def test_repeats_keep_the_tree_rules_distribution_and_the_sides_apart():
    made = splits(6000, 1000, seed=2, repeats=True)
    assert not made.distinct and made.n_repeats == 7000 - len(_kinds(made.train)) - len(_kinds(made.test))
    assert made.n_repeats > 500
    assert not _kinds(made.train) & _kinds(made.test)
    assert made.train.lengths.mean() == pytest.approx(12, abs=0.35)


def test_a_space_too_small_for_distinct_rows_repeats_them_on_one_side():
    made = splits(800, 100, seed=3, max_length=4)
    assert (len(made.train), len(made.test), made.distinct) == (800, 100, False)
    assert not _kinds(made.train) & _kinds(made.test)
    assert len(_kinds(made.train)) + len(_kinds(made.test)) <= 400


def test_a_seed_fixes_both_splits():
    one, two = splits(100, 20, seed=4), splits(100, 20, seed=4)
    assert np.array_equal(one.train.tokens, two.train.tokens)
    assert np.array_equal(one.test.tokens, two.test.tokens)


@pytest.mark.parametrize(("n_train", "n_test"), [(10, 0), (0, 10), (0, 0)])
def test_a_side_may_be_empty(n_train, n_test):
    made = splits(n_train, n_test, seed=5, repeats=n_train > 0)
    assert (len(made.train), len(made.test)) == (n_train, n_test)


def test_negative_row_counts_are_refused():
    with pytest.raises(InvalidKnob, match="3 and -1"):
        splits(3, -1, seed=0)


def test_wide_operators_and_deep_trees_are_drawn_within_their_limits():
    wide = sample(20, np.random.default_rng(11), max_args=60_000, max_depth=2, max_length=9000)
    assert 1000 < wide.lengths.max() <= 9000
    rng = np.random.default_rng(12)
    deep = sample(20, rng, max_args=2, max_depth=60_000, operator_probability=0.55, max_length=400)
    assert deep.depth.max() > 10
    _agrees_with_the_grammar(deep)


def test_nesting_beyond_the_quick_sort_is_worked_out_alike(monkeypatch):
    monkeypatch.setattr("sandbox.tasks.listops_levels.NARROW_LEVELS", 2)
    _agrees_with_the_grammar(sample(100, np.random.default_rng(13)))


def test_digits_are_uniform():
    tokens = sample(20_000, np.random.default_rng(10)).tokens
    counts = np.bincount(tokens[(tokens >= DIGIT_CODE) & (tokens < DIGIT_CODE + 10)])[DIGIT_CODE:]
    assert np.all(np.abs(counts / counts.sum() - 0.1) < 0.003)
