"""Filters and order of the gallery: nothing lost, nothing invented, unknown values last."""

import math
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from sandbox.runner.gallery import Entry
from sandbox.store.card import ArmCard, Card, SmallCurve
from sandbox.store.labels import Labels
from sandbox.ui.gallery_filter import (
    NEWEST,
    SOLVED,
    SOME_DIVERGED,
    Wish,
    differing,
    matching,
    metrics,
    outcomes,
    value,
)
from sandbox.ui.sparkline import sparkline, words

NUMBERS = st.floats(0, 1) | st.just(math.nan)


ARMS = st.dictionaries(
    st.sampled_from(["standard", "spectral"]),
    st.tuples(NUMBERS, NUMBERS, st.integers(0, 2), st.integers(0, 1)),
)
LISTS = st.dictionaries(
    st.integers(0, 99),
    st.fixed_dictionaries(
        {
            "arms": ARMS,
            "task": st.sampled_from(["listops", "sparse modular addition"]),
            "steps": st.sampled_from([10, 20]),
            "tags": st.sets(st.sampled_from(["good", "old"])),
            "pinned": st.booleans(),
            "state": st.sampled_from(["done", "running", "failed", "damaged"]),
            "created": st.floats(0, 1e9),
        }
    ),
    max_size=8,
)


def made(drawn: dict[int, dict[str, Any]]) -> list[Entry]:
    """Entries of what was drawn; made here, since checking their types draws random numbers of its own."""
    return [entry(f"run-{number}", **said) for number, said in drawn.items()]


def entry(run_id: str, **said: Any) -> Entry:
    arms = tuple(
        ArmCard(name=name, metrics={"test_accuracy": a, "test_loss": b}, reached=reached, diverged=diverged)
        for name, (a, b, reached, diverged) in said["arms"].items()
    )
    plain = {
        "task": {"kind": said["task"]}, "steps": said["steps"], "seeds": [0, 1],
        "arms": [{"name": arm.name} for arm in arms],
    }  # fmt: skip
    labels = Labels(tags=tuple(sorted(said["tags"])), pinned=said["pinned"])
    card = Card(id=run_id, plain=plain, arms=arms, labels=labels)
    return Entry(run_id, run_id, "local", said["state"], "", said["created"], 5, card, labels)


@given(LISTS)
def test_no_wish_lists_everything_once(drawn: dict[int, dict[str, Any]]) -> None:
    found = made(drawn)
    assert sorted(e.id for e in matching(found, Wish())) == sorted(e.id for e in found)


@given(LISTS, st.sampled_from(["test_accuracy", "test_loss"]), st.booleans())
def test_any_metric_sorts_with_pins_first_and_unknown_last(
    drawn: dict[int, dict[str, Any]], metric: str, least: bool
) -> None:
    listed = matching(made(drawn), Wish(sort=metric, least_first=least))
    for part in ([e for e in listed if e.labels.pinned], [e for e in listed if not e.labels.pinned]):
        numbers = [value(e, metric, least=least) for e in part]
        known = [n for n in numbers if not math.isnan(n)]
        assert known == sorted(known, reverse=not least)
        assert not any(math.isnan(n) for n in numbers[: len(known)])
    assert [e.labels.pinned for e in listed] == sorted((e.labels.pinned for e in listed), reverse=True)


@given(LISTS, st.sampled_from(["good", "old"]), st.sampled_from(["done", "failed", SOLVED, SOME_DIVERGED]))
def test_every_filter_keeps_exactly_what_fits(drawn: dict[int, dict[str, Any]], tag: str, state: str) -> None:
    found = made(drawn)
    assert {e.id for e in matching(found, Wish(tags=(tag,)))} == {e.id for e in found if tag in e.labels.tags}
    kept = {e.id for e in matching(found, Wish(states=(state,)))}
    assert kept == {e.id for e in found if state == e.state or state in outcomes(e)}
    wished = matching(found, Wish(tasks=("listops",), arms=("spectral",)))
    assert {e.id for e in wished} == {
        e.id
        for e in found
        if e.card.plain["task"]["kind"] == "listops" and "spectral" in [a.name for a in e.card.arms]
    }


@given(LISTS)
def test_text_finds_a_run_by_any_word_in_any_case(drawn: dict[int, dict[str, Any]]) -> None:
    found = made(drawn)
    for one in found:
        assert one in matching(found, Wish(text=one.id.upper()))
    assert matching(found, Wish(text="no run has these words")) == []


@given(LISTS)
def test_only_settings_that_differ_are_columns(drawn: dict[int, dict[str, Any]]) -> None:
    found = made(drawn)
    columns = differing(found)
    assert ("steps" in columns) == (len({e.card.plain["steps"] for e in found}) > 1)
    assert "seeds" not in columns
    assert all(len(column) == len(found) for column in columns.values())
    assert NEWEST in metrics(found)


def test_the_arm_that_is_filtered_for_gives_the_number() -> None:
    arms = tuple(ArmCard(name=n, metrics={"m": v}) for n, v in (("standard", 0.9), ("spectral", 0.2)))
    one = Entry("a", "a", "", "done", "", 0.0, 0, Card(id="a", arms=arms), Labels())
    assert value(one, "m") == 0.9
    assert value(one, "m", least=True) == 0.2
    assert value(one, "m", ("spectral",)) == 0.2
    assert math.isnan(value(one, "other"))


CURVE = SmallCurve(
    name="test_accuracy", steps=[0, 10, 20, 30], mean=[0.1, math.nan, 0.3, 0.4],
    low=[0.0, math.nan, 0.2, 0.3], high=[0.2, math.nan, 0.5, 1.0],
)  # fmt: skip


def test_a_sparkline_is_numbers_alone_and_breaks_where_nothing_is() -> None:
    hostile = ArmCard(name='"/><script>alert(1)</script>', metrics={}, curve=CURVE)
    picture = sparkline([hostile], 30, dark=False)
    tree = ElementTree.fromstring(picture)
    assert not "".join(tree.itertext()).strip()
    assert "script" not in picture
    kinds = [node.tag.rpartition("}")[2] for node in tree]
    assert (kinds.count("polyline"), kinds.count("circle"), kinds.count("polygon")) == (1, 1, 2)
    assert "0.4" in words([hostile])


def test_without_numbers_there_is_no_picture() -> None:
    assert sparkline([ArmCard(name="a", metrics={})], 30, dark=True) == ""
    empty = replace(CURVE, mean=[math.nan] * 4, low=[math.nan] * 4, high=[math.nan] * 4)
    assert sparkline([ArmCard(name="a", metrics={}, curve=empty)], 30, dark=True) == ""
