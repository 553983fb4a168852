"""The address of a comparison: every view comes back from it, and what it cannot mean is told."""

import string
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.mathematics.group_band import BANDS
from sandbox.store.compared import AXES
from sandbox.ui.compare_view import MOST_HEADS, MOST_SMOOTH, SHOWS, CompareView, fitted, from_params, opened

IDS = st.text("abcXYZ019_-", min_size=1, max_size=20).filter(lambda word: word[0] not in "_-")
TEXTS = st.text(string.ascii_letters + string.digits + " /:=.&+%,äλ~#?", max_size=40)


@st.composite
def views(draw: st.DrawFn) -> dict[str, Any]:
    runs = tuple(draw(st.lists(IDS, unique=True, max_size=6)))
    known = [f"{run}:{arm}" for run in runs for arm in range(4)]
    groups = tuple(draw(st.lists(st.sampled_from(known), unique=True, max_size=9))) if known else ()
    return {
        "runs": runs,
        "groups": groups,
        "show": draw(st.sampled_from(SHOWS)),
        "metric": draw(TEXTS),
        "by": draw(st.sampled_from(AXES)),
        "event": draw(TEXTS),
        "log": draw(st.booleans()),
        "band": draw(st.sampled_from(list(BANDS))),
        "smooth": draw(st.integers(0, MOST_SMOOTH)),
        "at": draw(st.none() | st.integers(-(10**6), 10**11).map(float)),
        "reference": draw(st.sampled_from(("", *groups))),
        "knob": draw(TEXTS),
        "seed": draw(st.none() | st.integers(0, 2**31 - 1)),
        "layer": draw(st.integers(0, MOST_HEADS - 1)),
        "head": draw(st.integers(0, MOST_HEADS - 1)),
    }


@given(views())
def test_every_view_comes_back_from_its_address(drawn: dict[str, Any]) -> None:
    view = CompareView(**drawn)
    query = urlencode(view.to_params())
    assert from_params(dict(parse_qsl(query, keep_blank_values=True))) == (view, [])


@given(st.dictionaries(st.sampled_from([*CompareView().to_params(), "colour"]), st.text(max_size=60)))
def test_whatever_an_address_says_is_a_view_that_comes_back(params: dict[str, str]) -> None:
    view, told = from_params(params)
    assert from_params(view.to_params()) == (view, [])
    assert all(sentence.endswith(".") and len(sentence) < 300 for sentence in told)


@pytest.mark.parametrize(
    ("key", "given", "field", "taken", "word"),
    [
        ("smooth", "100000", "smooth", MOST_SMOOTH, "out of range"),
        ("smooth", "-3", "smooth", 0, "out of range"),
        ("smooth", "many", "smooth", 0, "'many'"),
        (
            "at",
            "nan",
            "at",
            None,
            "'nan' does not exist here; the last place that all groups have reached is",
        ),
        ("at", "here", "at", None, "'here' does not exist here; the last place"),
        ("at", "1e300", "at", 1e15, "out of range"),
        ("by", "moon", "by", "step", "'moon'"),
        ("show", "opera", "show", "overlay", "'opera'"),
        ("band", "wide", "band", "range", "'wide'"),
        ("seed", "-1", "seed", None, "'-1'"),
        ("layer", "0", "layer", 0, "out of range"),
        ("head", "9999", "head", MOST_HEADS - 1, "out of range"),
        ("reference", "../../etc", "reference", "", "'../../etc'"),
        ("runs", "a,../b,c", "runs", ("a", "c"), "'../b'"),
        ("runs", "a,b,c,d,e,f,g", "runs", tuple("abcdef"), "6 fit"),
        ("schema", "9", "show", "overlay", "form '9'"),
        ("colour", "red", "show", "overlay", "'colour'"),
    ],
)
def test_what_is_out_of_range_is_clamped_and_told(
    key: str, given: str, field: str, taken: object, word: str
) -> None:
    view, (sentence,) = from_params({key: given})
    assert getattr(view, field) == taken
    assert word in sentence


def test_a_comparison_opens_with_at_most_six_groups_that_cover_its_runs() -> None:
    arms = {"a": ["standard", "x", "y", "z"], "b": ["standard", "x"], "c": ["standard"]}
    assert opened(["a"], arms) == ("a:0", "a:1", "a:2", "a:3")
    assert opened(arms, arms) == ("a:0", "a:1", "a:2", "b:0", "b:1", "c:0")


def test_runs_and_arms_that_are_not_there_are_left_out_and_told() -> None:
    view = CompareView(runs=("a", "gone"), groups=("a:0", "a:7", "gone:0"), reference="a:7")
    found, told = fitted(view, {"a": ["standard", "x"]})
    assert (found.runs, found.groups, found.reference) == (("a",), ("a:0",), "")
    assert [sentence.split()[2] for sentence in told] == ["a:7", "a:7"]
