"""Schedule: costly questions stay within their share, take turns, and say until when they wait."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.diagnostics import Diagnostic
from sandbox.diagnostics.piecewise import PiecewiseReading, joined
from sandbox.diagnostics.schedule import Schedule
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.errors import InvalidData
from sandbox.foundations.readings import encode
from tests.diagnostics.views import random_view


def trained(schedule: Schedule, costs: dict[str, float], seconds: float, n: int) -> dict[str, int]:
    """Train in `n` pieces of `seconds`, reading whatever is due; how often each was read."""
    counts = dict.fromkeys(costs, 0)
    for _ in range(n):
        schedule.trained(seconds)
        kind = schedule.due()
        if kind is not None:
            schedule.spent(kind, costs[kind])
            counts[kind] += 1
    return counts


@given(
    st.dictionaries(st.sampled_from("abc"), st.floats(0.01, 5), min_size=1),
    st.floats(0.01, 0.5),
    st.integers(100, 400),
)
def test_what_is_spent_stays_within_the_share_up_to_one_round(
    costs: dict[str, float], share: float, n: int
) -> None:
    counts = trained(Schedule(list(costs), share), costs, 0.5, n)
    spent = sum(costs[kind] * count for kind, count in counts.items())
    assert spent <= share * 0.5 * n + 2 * sum(costs.values())


def test_kinds_take_turns_whatever_they_cost() -> None:
    counts = trained(Schedule(["dear", "cheap"]), {"dear": 1.0, "cheap": 0.01}, 1.0, 500)
    assert abs(counts["dear"] - counts["cheap"]) <= 1 and counts["dear"] > 40


def test_an_unknown_cost_is_tried_once_and_its_debt_is_paid_before_the_next() -> None:
    schedule = Schedule(["a", "b"], share=0.1)
    assert schedule.due() == "a"
    schedule.spent("a", 2.0)
    assert schedule.due() is None and schedule.purse == -2.0
    schedule.trained(19.9)
    assert schedule.due() is None
    schedule.trained(0.2)
    assert schedule.due() == "b"


def test_waiting_says_the_seconds_and_the_step() -> None:
    schedule = Schedule(["a", "b"], share=0.1)
    schedule.spent("a", 1.0)
    schedule.spent("b", 3.0)
    first, second = schedule.waiting(step=100, seconds_per_step=0.5)
    assert (first.kind, first.seconds, first.step, first.cost) == ("a", pytest.approx(50.0), 200, 1.0)
    assert (second.kind, second.seconds, second.step) == ("b", pytest.approx(80.0), 260)


def test_the_cost_follows_what_is_measured() -> None:
    schedule = Schedule(["a"])
    assert schedule.cost("a") is None
    for seconds in (1.0, *[2.0] * 30):
        schedule.spent("a", seconds)
    assert schedule.cost("a") == pytest.approx(2.0, abs=1e-4)


def test_idle_credit_is_no_burst() -> None:
    schedule = Schedule(["a"], share=0.5)
    schedule.spent("a", 1.0)
    schedule.trained(1e6)
    assert schedule.purse == 1.0


def test_a_share_of_zero_and_dropped_kinds_are_never_asked() -> None:
    schedule = Schedule(["a"], share=0.0)
    assert schedule.due() is None and schedule.waiting(0, 1.0) == []
    other = Schedule(["a"])
    other.drop("a")
    assert other.due() is None
    with pytest.raises(InvalidData, match="choose 0 to 1"):
        Schedule([], share=2.0)


def test_a_resumed_schedule_goes_on_where_it_stood() -> None:
    schedule = Schedule(["a", "b", "c"])
    schedule.spent("a", 1.5)
    again = Schedule(["a", "b", "c"])
    again.load(schedule.state())
    assert (again.purse, again.cost("a"), again.cost("b")) == (-1.5, 1.5, None)
    again.trained(100.0)
    assert again.due() == "b"
    fresh = Schedule(["a"])
    fresh.load({})
    assert fresh.due() == "a"
    emptied = Schedule([])
    emptied.load(Schedule([]).state())
    assert emptied.due() is None


def test_a_reading_in_pieces_is_the_whole_reading_and_shows_its_progress() -> None:
    whole = random_view()
    diagnostic = Diagnostic.variants["singular values"]()
    pieces = PiecewiseReading(diagnostic, whole)
    assert list(pieces) == [(1, 3), (2, 3), (3, 3)] and pieces.done
    together, in_pieces = (encode(a) for a in (diagnostic.read(whole), pieces.answer))
    assert together[1] == in_pieces[1]
    assert all(np.array_equal(together[0][name], in_pieces[0][name]) for name in together[0])


def test_leaving_a_reading_early_cancels_the_rest() -> None:
    pieces = PiecewiseReading(Diagnostic.variants["singular values"](), random_view())
    next(iter(pieces))
    assert not pieces.done
    assert joined([NotApplicable("no")]) == NotApplicable("no")


def test_a_kind_is_unread_until_its_cost_is_known() -> None:
    schedule = Schedule(["a", "b"])
    schedule.spent("a", 0.1)
    assert schedule.unread
    schedule.estimate("b", 9.0, 0.1)
    assert not schedule.unread and not Schedule(["a"], share=0.0).unread
