"""Turns are fair: nobody waits for two runs of another owner that asked later than the first of theirs."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from sandbox.runner.turns import Waiting, fair_order, wait_of

OWNERS = ("ann", "bob", "eve")
QUEUES = st.lists(st.sampled_from(OWNERS), max_size=12).map(
    lambda owners: [Waiting(f"{n:02d}", owner, float(n)) for n, owner in enumerate(owners)]
)


def test_one_who_asks_for_many_lets_the_other_in_after_the_first() -> None:
    waiting = [Waiting(f"a{n}", "ann", n) for n in range(3)] + [Waiting("b0", "bob", 10)]
    assert fair_order(waiting, {}, {}) == ["a0", "b0", "a1", "a2"]
    assert fair_order(waiting, {"ann": 1}, {"ann": 5.0}) == ["b0", "a0", "a1", "a2"]


def test_with_one_trainer_owners_take_turns() -> None:
    waiting = {f"{owner[0]}{n}": Waiting(f"{owner[0]}{n}", owner, n) for owner in OWNERS for n in range(3)}
    served: dict[str, float] = {}
    taken = []
    for now in range(len(waiting)):
        (first, *_) = fair_order(waiting.values(), {}, served)
        served[waiting.pop(first).owner] = 1.0 + now
        taken.append(first[0])
    assert taken == ["a", "b", "e"] * 3


@given(QUEUES)
def test_everyone_is_served_once_and_an_owners_runs_in_order(waiting: list[Waiting]) -> None:
    order = fair_order(waiting, {"bob": 1}, {"eve": 3.0})
    assert sorted(order) == [one.id for one in waiting]
    for owner in OWNERS:
        own = [one.id for one in waiting if one.owner == owner]
        assert [run_id for run_id in order if run_id in own] == own


@given(QUEUES)
def test_while_all_wait_no_owner_is_two_runs_ahead_of_another(waiting: list[Waiting]) -> None:
    owner_of = {one.id: one.owner for one in waiting}
    total, taken = Counter(owner_of.values()), Counter[str]()
    for run_id in fair_order(waiting, {}, {}):
        taken[owner_of[run_id]] += 1
        still = [owner for owner in total if taken[owner] < total[owner]]
        assert all(taken[owner_of[run_id]] - taken[owner] <= 1 for owner in still)


def test_the_wait_is_that_of_the_trainers_and_of_those_before() -> None:
    seconds = {"a": 10.0, "b": 4.0, "c": 1.0}
    assert wait_of("abc", "a", seconds, [], 1) == 0.0
    assert wait_of("abc", "c", seconds, [], 1) == 14.0
    assert wait_of("abc", "c", seconds, [], 2) == 4.0  # beside a, after b
    assert wait_of("abc", "a", seconds, [7.0, 3.0], 2) == 3.0
    assert wait_of("abc", "b", seconds, [7.0, 3.0], 2) == 7.0
