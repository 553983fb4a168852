"""Words: numbers as they are said, and strange text that stays text."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.mathematics.statistics import PairedDifference
from sandbox.store.summary import ArmSummary
from sandbox.ui import words
from sandbox.ui.arm_table import difference, table


def line(**changed: object) -> ArmSummary:
    plain: dict[str, object] = {
        "arm": "spectral:shift=0.5", "n": 3, "target": 0.98, "reached": 2, "median_step": 700.0,
        "first_step": 600,
        "last_step": 800, "final_step": 1500, "final_accuracy": 0.991, "reference": "standard",
        "difference": None, "seconds_per_step": 0.0123, "diverged": 0,
    }  # fmt: skip
    return ArmSummary(**(plain | changed))  # type: ignore[arg-type]


def paired(mean: float, low: float | None, high: float | None, n: int = 3) -> PairedDifference:
    return PairedDifference(n=n, n_left_out=0, mean=mean, low=low, high=high, confidence=0.95)


@pytest.mark.parametrize(
    ("found", "end"),
    [
        (paired(0.01, -0.02, 0.04), "no difference shown"),
        (paired(0.01, 0.0, 0.02), "no difference shown"),
        (paired(0.03, 0.01, 0.05), "higher"),
        (paired(-0.03, -0.05, -0.01), "lower"),
        (paired(0.03, None, None, n=1), "too few to say"),
    ],
)
def test_a_verdict_needs_an_interval_beside_zero(found: PairedDifference, end: str) -> None:
    assert difference(line(difference=found)).endswith(end)


def test_the_table_has_a_row_per_arm_and_the_numbers_of_the_summary() -> None:
    rows = table([line(arm="standard"), line(reached=0, median_step=None, diverged=1)]).splitlines()
    assert len(rows) == 4
    assert "the reference" in rows[2]
    assert "700 (600 to 800, of 2)" in rows[2]
    assert "not reached" in rows[3]
    assert rows[3].rstrip(" |").endswith("1")
    assert {row.count("|") for row in rows} == {9}


def test_what_a_fork_has_where_it_begins_may_have_been_so_before() -> None:
    (row,) = table([line(median_step=400.0, first_step=400, last_step=640, begun=400)]).splitlines()[2:]
    assert "by 400 (by 400 to 640, of 2)" in row
    (row,) = table([line(median_step=400.0, first_step=400, last_step=640)]).splitlines()[2:]
    assert "400 (400 to 640, of 2)" in row and "by 400" not in row


@given(st.text(max_size=40))
def test_no_arm_name_breaks_out_of_its_cell(name: str) -> None:
    rows = table([line(arm=name), line(arm="standard", reference=name)]).splitlines()
    assert len(rows) == 4
    assert {row.count("|") for row in rows} == {9}
    assert all(row.count("`") % 2 == 0 for row in rows)


@given(st.text(max_size=60))
def test_escaped_text_has_no_markdown_left(text: str) -> None:
    escaped = words.escaped(text)
    bare = escaped.replace("\\\\", "")
    assert "\n" not in escaped
    for sign in "`*_[]<>$#|~:!":
        assert bare.count(sign) == bare.count(f"\\{sign}")


@pytest.mark.parametrize(
    ("said", "word"),
    [
        (words.percent(0.98), "98\u00a0%"),
        (words.percent(0.99999), "99.9\u00a0%"),
        (words.percent(1.0), "100\u00a0%"),
        (words.escaped("reached 98 %\tof it"), "reached 98\u00a0\\% of it"),
        (words.percent(math.nan), "not a number"),
        (words.points(0.0123), "+1.2"),
        (words.points(-0.5), "−50.0"),
        (words.points(-0.0001), "0.0"),
        (words.duration(0.25), "0.2 s"),
        (words.duration(59), "59 s"),
        (words.duration(600), "10 min"),
        (words.duration(7500), "2 h 5 min"),
        (words.duration(400_000), "5 days"),
        (words.count(1, "seed"), "1 seed"),
        (words.count(1200, "step"), "1,200 steps"),
        (words.size(2.5e9), "2.5 GB"),
    ],
)
def test_numbers_are_said_as_people_say_them(said: str, word: str) -> None:
    assert said == word
