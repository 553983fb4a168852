"""Readings: typed answers that survive the store, and refuse shapes that contradict each other."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.errors import InvalidData
from sandbox.foundations.readings import (
    Answer,
    AttentionMap,
    PerHead,
    Provenance,
    Reading,
    Trajectory,
    decode,
    encode,
)

words = st.text(max_size=8)
provenances = st.fixed_dictionaries(
    {
        "precision": words,
        "method": words,
        "tolerance": st.floats(0, 1),
        "sample_size": st.integers(0, 99),
        "exactness": st.sampled_from(["exact", "bracket", "sampled", "estimated"]),
        "note": words,
    }
)
Drawn = tuple[Any, dict[str, Any]]


def built(drawn: Drawn) -> Any:
    """The answer itself; built in the test's body, where checked code may run."""
    kind, fields = drawn
    if "provenance" in fields:
        fields = {**fields, "provenance": Provenance(**fields["provenance"])}
    return kind(**fields)


def grid(*shape: int, dtype: type = np.float64) -> st.SearchStrategy[np.ndarray]:
    return arrays.arrays(dtype, shape, elements=st.floats(width=32 if dtype is np.float32 else 64))


@st.composite
def per_heads(draw: st.DrawFn) -> Drawn:
    shape = tuple(draw(st.integers(1, 3)) for _ in range(3))
    columns = {name: draw(grid(*shape)) for name in draw(st.sets(words, min_size=1, max_size=3))}
    return PerHead, {
        "columns": columns,
        "unit": draw(words),
        "log": draw(st.booleans()),
        "units": {name: draw(words) for name in list(columns)[:1]},
        "linear": tuple(columns)[:1],
        "not_applicable": {"no such column": draw(words)},
        "provenance": draw(provenances),
    }


@st.composite
def trajectories(draw: st.DrawFn) -> Drawn:
    n_runs, n_points = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    return Trajectory, {
        "points": draw(grid(n_runs, n_points, 2, dtype=np.float32)),
        "labels": tuple(draw(words) for _ in range(n_points)),
        "groups": tuple(draw(words) for _ in range(n_points)),
        "explained_variance": draw(st.none() | grid(n_runs, 2)),
        "provenance": draw(provenances),
    }


@st.composite
def maps(draw: st.DrawFn) -> Drawn:
    n_queries, n_keys = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    return AttentionMap, {
        "weights": draw(grid(2, 1, 2, n_queries, n_keys)),
        "key_labels": tuple(draw(words) for _ in range(n_keys)),
        "query_labels": tuple(draw(words) for _ in range(n_queries)),
        "mask": draw(arrays.arrays(np.bool_, (n_queries, n_keys))),
        "provenance": draw(provenances),
    }


reasons = st.tuples(st.just(NotApplicable), st.fixed_dictionaries({"reason": words}))


def parts(answer: Answer) -> dict[str, Any]:
    """Every field, arrays as bytes with dtype and shape, so that NaN equals itself."""

    def frozen(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return (value.dtype.str, value.shape, value.tobytes())
        if isinstance(value, dict):
            return {name: frozen(inner) for name, inner in value.items()}
        return value

    return {"type": type(answer), **{name: frozen(value) for name, value in vars(answer).items()}}


@given(drawn=per_heads() | trajectories() | maps() | reasons)
def test_an_answer_survives_the_store_bit_for_bit(drawn: Drawn) -> None:
    answer = built(drawn)
    columns, meta = encode(answer)
    assert parts(decode(columns, json.loads(json.dumps(meta)))) == parts(answer)


@given(drawn=per_heads() | trajectories() | maps())
def test_every_stored_array_starts_with_the_run_axis(drawn: Drawn) -> None:
    answer: Reading = built(drawn)
    columns, meta = encode(answer)
    assert list(columns) == meta["columns"]
    one, _ = encode(answer.for_run(0))
    for name, values in columns.items():
        assert np.array_equal(one[name], values[:1], equal_nan=True)


@given(drawn=trajectories())
def test_what_is_stored_once_does_not_depend_on_the_numbers(drawn: Drawn) -> None:
    kind, fields = drawn
    other = (kind, {**fields, "points": np.zeros_like(fields["points"])})
    assert encode(built(other))[1] == encode(built(drawn))[1]


def test_a_not_applicable_is_its_reason() -> None:
    assert encode(NotApplicable("no key matrix")) == ({}, {"not_applicable": "no key matrix"})


def test_one_run_can_be_taken_out_and_only_one_that_is_there() -> None:
    reading = PerHead(columns={"a": np.arange(6.0).reshape(3, 1, 2)}, unit="nats")
    assert reading.for_run(2).columns["a"].tolist() == [[[4.0, 5.0]]]
    for index in (3, -1):
        with pytest.raises(InvalidData, match=f"Run {index} was asked of a reading of 3"):
            reading.for_run(index)


def test_columns_that_disagree_in_shape_are_refused() -> None:
    with pytest.raises(InvalidData, match="must agree"):
        PerHead(columns={"a": np.ones((3, 1, 2)), "b": np.ones((3, 1, 1))}, unit="nats")


@pytest.mark.parametrize("shape", [(3,), (3, 1), (3, 1, 2, 1)])
def test_a_column_has_the_axes_run_layer_head(shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidData, match=r"it must be \(run, layer, head\)"):
        PerHead(columns={"a": np.ones(shape)}, unit="nats")


def test_a_reading_without_columns_or_with_stray_words_is_refused() -> None:
    one = {"a": np.ones((1, 1, 1))}
    with pytest.raises(InvalidData, match="no column"):
        PerHead(columns={}, unit="nats")
    with pytest.raises(InvalidData, match="Units name b; the columns are a"):
        PerHead(columns=one, unit="nats", units={"b": "share"})
    with pytest.raises(InvalidData, match="Units name c"):
        PerHead(columns=one, unit="nats", linear=("c",))
    with pytest.raises(InvalidData, match="a has values and a reason to have none"):
        PerHead(columns=one, unit="nats", not_applicable={"a": "no"})


def test_every_point_has_a_label_a_group_and_two_coordinates() -> None:
    points = np.zeros((2, 3, 2))
    with pytest.raises(InvalidData, match="2 labels for 3 points"):
        Trajectory(points=points, labels=("a", "b"), groups=("g",) * 3)
    with pytest.raises(InvalidData, match="1 groups for 3 points"):
        Trajectory(points=points, labels=("a", "b", "c"), groups=("g",))
    with pytest.raises(InvalidData, match=r"points has shape \(2, 3, 3\)"):
        Trajectory(points=np.zeros((2, 3, 3)), labels=("a",) * 3, groups=("g",) * 3)
    with pytest.raises(InvalidData, match=r"explained_variance has shape \(1, 2\); it must be \(2, 2\)"):
        Trajectory(points=points, labels=("a",) * 3, groups=("g",) * 3, explained_variance=np.ones((1, 2)))


def test_a_map_has_a_label_and_a_mask_for_every_cell() -> None:
    weights = np.zeros((1, 1, 1, 2, 3))
    with pytest.raises(InvalidData, match="weights has shape"):
        AttentionMap(weights=weights, key_labels=("a",), query_labels=("a", "b"), mask=np.ones((2, 1), bool))
    with pytest.raises(InvalidData, match="mask has shape"):
        AttentionMap(
            weights=weights, key_labels=("a", "b", "c"), query_labels=("a", "b"), mask=np.ones((3, 2), bool)
        )


def test_an_unknown_exactness_is_refused() -> None:
    with pytest.raises(InvalidData, match="'roughly'; choose one of exact, bracket, sampled, estimated"):
        Provenance(exactness="roughly")


def test_a_damaged_record_says_so() -> None:
    columns, meta = encode(PerHead(columns={"a": np.ones((1, 1, 1))}, unit="nats"))
    with pytest.raises(InvalidData, match="incomplete"):
        decode({}, meta)
    with pytest.raises(InvalidData, match="incomplete"):
        decode(columns, {name: value for name, value in meta.items() if name != "unit"})
    with pytest.raises(InvalidData, match="has type 'Spectrum'"):
        decode(columns, meta | {"type": "Spectrum"})
