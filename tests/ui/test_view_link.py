"""The view in a run's link: it comes back whole, and what the run does not have is clamped and told."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.foundations.errors import SandboxError
from sandbox.ui.view_link import MAX_LINK, MOST_SMOOTHED, Limits, PanelView, RunView, decode, encode

PANELS, SECTIONS = ("loss", "accuracy", "theta"), ("Spectra", "Residual stream")
LIMITS = Limits(
    arms=4, seeds=3, layers=2, heads=2, steps=1500, panels=frozenset(PANELS), sections=frozenset(SECTIONS)
)
WORDS = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_categories=["C", "Z"]), max_size=30
)
PLACES = st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 1), st.integers(0, 1))
LOOKS = st.dictionaries(
    st.sampled_from(PANELS),
    st.tuples(
        st.booleans(), st.integers(0, MOST_SMOOTHED), st.lists(WORDS, max_size=4), st.lists(WORDS, max_size=2)
    ),
)
PROJECTED = st.sampled_from([(), ("loss",), ("loss", ""), ("theta", "accuracy")])


@given(
    PLACES,
    st.none() | st.integers(0, 1500),
    WORDS,
    st.none() | st.tuples(st.floats(0, 700), st.floats(701, 1500)),
    st.sets(st.integers(0, 3)),
    st.lists(st.sampled_from(SECTIONS), unique=True),
    LOOKS,
    st.booleans(),
    PROJECTED,
)
def test_every_view_comes_back_from_its_link(
    places: tuple[int, int, int, int],
    step: int | None,
    pinned: str,
    zoom: tuple[float, float] | None,
    hidden: set[int],
    opened: list[str],
    looks: dict[str, tuple[bool, int, list[str], list[str]]],
    ghost: bool,
    projector: tuple[str, ...],
) -> None:
    arm, seed, layer, head = places
    view = RunView(
        step=step, arm=arm, seed=seed, layer=layer, head=head, pinned=pinned, zoom=zoom,
        hidden=tuple(sorted(hidden)), filled=PANELS[0] if hidden else "", open=tuple(opened),
        ghost=ghost, projector=projector,
        panels={
            k: PanelView(log=a, smoothed=b, shown=tuple(c), options=tuple(d))
            for k, (a, b, c, d) in looks.items()
        },
    )  # fmt: skip
    assert decode(encode(view), LIMITS) == (view, [])


def link(said: Any) -> str:
    return "1." + base64.urlsafe_b64encode(json.dumps(said).encode()).decode().rstrip("=")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from([*RunView().to_plain(), "colour"]), JSON))
def test_whatever_a_link_says_is_a_view_within_the_run(said: dict[str, Any]) -> None:
    view, told = decode(link({**said, "schema": 1}), LIMITS)
    assert decode(encode(view), LIMITS) == (view, [])
    assert 0 <= view.arm < 4
    assert 0 <= view.head < 2
    assert view.step is None or 0 <= view.step <= 1500
    assert all(sentence.endswith(".") for sentence in told)


@pytest.mark.parametrize(
    ("key", "given", "taken"),
    [
        ("arm", 9, 3), ("seed", -1, 0), ("step", 10**9, 1500), ("head", "first", 0), ("layer", True, 0),
        ("filled", "opera", ""), ("open", ["Opera"], ()), ("hidden", [0, 7], (0,)), ("zoom", [5, 1], None),
        ("zoom", [100, 9000], (100.0, 1500.0)), ("pinned", "\x00", ""),
        ("panels", {"loss": {"smoothed": 9}}, None), ("ghost", 3, True), ("projector", "opera", ()),
        ("projector", ["loss", "opera"], ("loss",)),
        ("projector", ["loss", "theta", "accuracy"], ("loss", "theta")),
    ],
)  # fmt: skip
def test_what_is_out_of_range_is_clamped_and_told(key: str, given: Any, taken: Any) -> None:
    view, told = decode(link({"schema": 1, key: given}), LIMITS)
    assert len(told) == 1
    assert key in told[0] or "smoothing of loss" in told[0]
    if key == "panels":
        assert view.panels["loss"].smoothed == MOST_SMOOTHED
    else:
        assert getattr(view, key) == taken


@given(st.text(max_size=200))
def test_any_text_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(SandboxError) as refusal:
        decode(text, LIMITS)
    assert 10 < len(str(refusal.value)) < 300


@pytest.mark.parametrize("said", [[], 3, None, {}, {"schema": 2}, "x"])
def test_what_is_no_view_is_refused(said: Any) -> None:
    with pytest.raises(SandboxError):
        decode(link(said), LIMITS)


def test_numbers_that_are_none_and_endless_links_are_refused() -> None:
    nan = "1." + base64.urlsafe_b64encode(b'{"schema":1,"zoom":[NaN,1]}').decode().rstrip("=")
    for value in (
        nan,
        "1." + "A" * MAX_LINK,
        "2.AAAA",
        "1." + base64.urlsafe_b64encode(b"[" * 5000).decode(),
    ):
        with pytest.raises(SandboxError):
            decode(value, LIMITS)


@pytest.mark.parametrize(
    ("key", "given", "taken", "word"),
    [
        ("zoom", [0, 10**400 - 1], (0.0, 1500.0), "0 to 1500 is taken"),
        ("zoom", [10**400, 10**401], None, "left out"),
        ("hidden", [0] * 300, (0,), "has 300 entries and 200 fit"),
        ("open", ["Spectra"] * 201, ("Spectra",), "has 201 entries and 200 fit"),
        ("hidden", [1, True], (1,), "True"),
    ],
)
def test_numbers_and_lists_without_end_are_told_and_the_rest_is_followed(
    key: str, given: Any, taken: Any, word: str
) -> None:
    view, (sentence,) = decode(link({"schema": 1, "arm": 2, key: given}), LIMITS)
    assert getattr(view, key) == taken
    assert view.arm == 2
    assert word in sentence
    assert len(sentence) < 200
