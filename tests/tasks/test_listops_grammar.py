"""The ListOps reader against a second evaluator, and every case that people meet in files."""

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.foundations.errors import SandboxError
from sandbox.tasks.listops_grammar import (
    OPERATORS,
    InvalidExpression,
    apply,
    depth,
    evaluate,
    length,
    parse,
    root_operator,
    scan,
    walk,
    write,
)

trees = st.recursive(
    st.integers(0, 30),
    lambda inner: st.tuples(st.sampled_from(OPERATORS), st.lists(inner, min_size=1, max_size=5)),
    max_leaves=25,
)


def _second_evaluator(tree):
    if isinstance(tree, int):
        return tree
    name, values = tree[0], [_second_evaluator(child) for child in tree[1]]
    return {
        "MIN": lambda: min(values),
        "MAX": lambda: max(values),
        "MED": lambda: int(statistics.median(values)),
        "SM": lambda: sum(values) % 10,
        "FIRST": lambda: values[0],
        "LAST": lambda: values[-1],
    }[name]()


def _text(tree):
    return str(tree) if isinstance(tree, int) else f"[{tree[0]} {' '.join(map(_text, tree[1]))} ]"


def _operator_levels(tree):
    return 0 if isinstance(tree, int) else 1 + max(map(_operator_levels, tree[1]))


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("[MAX 2 9 [MIN 4 7 ] 0 ]", 9),
        ("[MED 2 1 ]", 1),
        ("[MED 0 9 ]", 4),
        ("[MED 4 7 ]", 5),
        ("[MED 2 3 ]", 2),
        ("[MED 8 6 ]", 7),
        ("[MED 2 4 5 9 ]", 4),
        ("[MED 7 ]", 7),
        ("[SM 7 4 5 7 8 ]", 1),
        ("[LAST 5 0 ]", 0),
        ("[FIRST 5 0 ]", 5),
        ("[MAX 4 3 [MIN 2 3 ] 1 0 [MEDIAN 1 5 8 9, 2]]", 5),
        ("[MIN 8 3 5 X", 3),
        ("[ SUM_MOD 7 8 ]", 5),
        ("( ( ( ( [SM ( ( ( [MED 6 ) 5 ) ] ) ) 1 ) 1 ) ] )", 7),
        ("( ( ( [MAX 8 ) 2 ) ] )", 8),
        ("[MED 7 [MIN 2 9] [MAX 3 4 [MIN 1 1]]]", 4),
        ("9", 9),
        ("\t[MAX\n1 02 ]\r\n", 2),
        ("[MAX 8 12 6 3 ]", 12),
        ("[SM 8 12 6 3 ]", 9),
        ("[SM [SM 9 9 ] [SM 9 9 ] ]", 6),
    ],
)
def test_expressions_that_people_have_are_worked_out(expression, value):
    assert evaluate(expression) == value


@pytest.mark.parametrize(
    ("expression", "position", "reason"),
    [
        ("", 0, "empty"),
        (" ( ) ,", 0, "empty"),
        ("[MAX ]", 5, "no arguments"),
        ("[MAX 3 [MIN ] ]", 12, "no arguments"),
        ("[MAX 3 -2 ]", 7, "negative number '-2'"),
        ("[SUM 1 2 ]", 1, "unknown operator 'SUM'"),
        ("[ MEAN 1 2 ]", 2, "unknown operator 'MEAN'"),
        ("[max 1 2 ]", 1, "unknown operator 'max'"),
        ("[MAX 1 2", 0, "unclosed operator '[MAX'"),
        ("[MAX 1 [MIN 2 ]", 0, "unclosed operator '[MAX'"),
        ("[MAX 1 [MIN 2", 7, "unclosed operator '[MIN'"),
        ("MAX 1 2 ]", 0, "brackets of this text are lost"),
        ("[MAX 1 MIN 2 ]", 7, "brackets of this text are lost"),
        ("[MAX 1 2 ] 3", 11, "trailing token '3'"),
        ("[MAX 1 2 ] ]", 11, "trailing token ']'"),
        ("4 5", 2, "trailing token '5'"),
        ("] 1", 0, "closes nothing"),
        ("[", 0, "needs an operator"),
        ("[MAX 1 [", 7, "needs an operator"),
        ("[7 8 ]", 1, "needs an operator"),
        ("[MAX 1.5 2 ]", 5, "unknown token '1.5'"),
        ("[MAX ٣ 2 ]", 5, "unknown token '٣'"),
        ("[MAX 5X", 5, "unknown token '5X'"),
        ("[MAX " + "9" * 5000 + " ]", 5, "5000 digits"),
    ],
)
def test_text_that_does_not_parse_gets_position_and_reason(expression, position, reason):
    with pytest.raises(InvalidExpression) as caught:
        evaluate(expression)
    assert caught.value.position == position
    assert reason in caught.value.reason
    assert str(caught.value).count(".") <= 2
    assert f"at character {position + 1}:" in str(caught.value)


def test_an_invalid_expression_is_a_value_error_and_a_deliberate_one():
    assert issubclass(InvalidExpression, ValueError) and issubclass(InvalidExpression, SandboxError)


@given(trees)
def test_any_tree_has_the_value_of_the_second_evaluator(tree):
    assert evaluate(_text(tree)) == _second_evaluator(tree)


@given(trees)
def test_a_tree_written_out_is_the_text_that_was_read(tree):
    root = parse(_text(tree))
    assert write(root) == _text(tree)
    assert length(root) == len(_text(tree).split()) == len(list(scan(_text(tree))))
    assert depth(root) == _operator_levels(tree)
    assert root_operator(root) == (None if isinstance(tree, int) else tree[0])


@given(trees)
def test_every_node_names_its_own_tokens(tree):
    tokens = _text(tree).split()
    for node, level in walk(parse(_text(tree))):
        assert evaluate(" ".join(tokens[node.start : node.stop])) == node.value
        assert level == 1 + sum(1 if t.startswith("[") else -(t == "]") for t in tokens[: node.start])
        if node.operator:
            assert node.value == apply(node.operator, [child.value for child in node.children])


@given(st.text(alphabet="[]() ,X-0179MAXINED_SU\n", max_size=40))
def test_any_text_is_worked_out_or_refused_at_a_place_inside_it(text):
    try:
        value = evaluate(text)
    except InvalidExpression as error:
        assert 0 <= error.position <= len(text)
    else:
        assert value >= 0 and evaluate(write(parse(text))) == value


def test_parentheses_and_commas_carry_nothing():
    assert write(parse("((([MAX,8)2)])")) == "[MAX 8 2 ]"


def test_nesting_is_not_bounded_by_recursion():
    levels = 20_000
    root = parse("[MAX " * levels + "7" + " ]" * levels)
    assert (root.value, depth(root), length(root)) == (7, levels, 2 * levels + 1)
    assert len(write(root)) == 7 * levels + 1
    assert "value 7" in repr(root)
