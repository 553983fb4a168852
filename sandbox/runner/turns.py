"""Turns: whose run is trained next, so that nobody who asks for many keeps the others waiting."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Waiting:
    """A run that waits for a trainer."""

    id: str
    owner: str
    created: float


def fair_order(
    waiting: Iterable[Waiting], running: Mapping[str, int], served: Mapping[str, float]
) -> list[str]:
    """The ids of `waiting` in the order in which trainers that come free should take them.

    Round robin: an owner's n-th waiting run counts as n more than the owner has `running`, fewer go first;
    among equals the owner who was `served` (seconds since 1970) longest ago, then who asked first. Each
    owner's own runs keep their order.
    """
    turn = Counter(running)
    ranked = []
    for one in sorted(waiting, key=lambda one: (one.created, one.id)):
        ranked.append((turn[one.owner], served.get(one.owner, 0.0), one.created, one.id))
        turn[one.owner] += 1
    return [run_id for *_, run_id in sorted(ranked)]


def wait_of(
    order: Iterable[str], run_id: str, seconds: Mapping[str, float], busy: Iterable[float], n: int
) -> float:
    """Seconds until `run_id` begins, where runs take `seconds` and `n` trainers have `busy` seconds to go."""
    free = sorted(busy)[-n:]
    free = [0.0] * (n - len(free)) + free
    for one in order:
        start = min(free)
        if one == run_id:
            return start
        free[free.index(start)] = start + seconds.get(one, 0.0)
    return 0.0
