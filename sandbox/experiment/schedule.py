"""When a run is evaluated and its weights are kept: the experiment decides, so resuming changes nothing."""

from bisect import bisect_right
from collections.abc import Sequence

DENSE = 12
"""Every step up to this one is kept: what happens first happens fast."""

BUDGET = 96
"""Snapshots with weights of one run at most, however long it is."""

MOST_BYTES = 64 * 2**20
"""Weights kept of one run at most; a large model is kept at fewer steps, at least FEWEST of them."""

FEWEST = 32

STEPS_EACH = 32
"""A short run is read at every 32nd step on average: reading one costs as much as 1.5 to 4 steps."""


def evaluation_steps(steps: int, every: int) -> tuple[int, ...]:
    """Steps at which train and test sets are evaluated: 0, then every `every`, and the last one."""
    return tuple(sorted({*range(0, steps + 1, every), steps}))


def snapshot_steps(steps: int, budget: int = BUDGET, dense: int = DENSE) -> tuple[int, ...]:
    """Steps at which weights are kept: each of the first `dense`, then evenly in log(step), and the last.

    At most `budget` of them (3 at least); all of them when the run is no longer than that.
    """
    budget = max(budget, 3)
    if steps < budget:
        return tuple(range(steps + 1))
    dense = min(dense, budget // 2)
    chosen = list(range(dense + 1))
    free = budget - len(chosen)
    # Whole steps cannot be closer than 1: where the logarithm asks for less, go one by one and
    # spread what is left over the rest.
    while free > 0 and chosen[-1] < steps:
        last = max(chosen[-1], 1)
        ratio = (steps / last) ** (1 / free)
        chosen.append(min(steps, max(chosen[-1] + 1, round(last * ratio))))
        free -= 1
    chosen[-1] = steps
    return tuple(sorted(set(chosen)))


def snapshot_budget(steps: int, bytes_each: int) -> int:
    """How many snapshots a run of `steps` may have; the weights of all arms and seeds take `bytes_each`."""
    return max(FEWEST, min(BUDGET, steps // STEPS_EACH, MOST_BYTES // max(bytes_each, 1)))


def next_step(schedule: Sequence[int], after: int) -> int | None:
    """The first step of an ascending schedule beyond `after`; None when there is none."""
    index = bisect_right(schedule, after)
    return schedule[index] if index < len(schedule) else None
