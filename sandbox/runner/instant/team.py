"""A team: the seeds of one setting, in a native group per thread that waits for no other within a turn."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache
from typing import ClassVar, TypeVar

import numpy as np
from jaxtyping import Float, Int32

from sandbox.engine.batches import epoch_order
from sandbox.engine.evaluation import Metrics
from sandbox.engine.native.group import NativeGroup
from sandbox.engine.setting import GroupSetting

MOST_ORDERS = 1000
"""Of 8 kB each: those of 8 seeds in the epochs that are trained over and over."""

Answer = TypeVar("Answer")


@lru_cache(maxsize=MOST_ORDERS)
def known_order(seed: int, epoch: int, n_rows: int) -> Int32[np.ndarray, " row"]:
    """As `epoch_order`; drawing it takes as long as eight steps of one seed."""
    return epoch_order(seed, epoch, n_rows).astype(np.int32)


class InstantGroup(NativeGroup):
    """A native group that is trained from its start again and again; its numbers are the native group's."""

    stacked: ClassVar[bool] = False

    def _draw(self, epoch: int) -> None:
        if epoch != self._epoch:
            orders = [known_order(seed, epoch, self._n_rows) for seed in self.seeds]
            self._order, self._epoch = np.stack(orders), epoch


class Team:
    """Groups of neighbouring seeds, one for each thread; a run's numbers do not depend on its company."""

    def __init__(self, setting: GroupSetting, seeds: Sequence[int], threads: int) -> None:
        self.setting, self.seeds = setting, tuple(seeds)
        n = min(threads, len(seeds))
        edges = [len(seeds) * i // n for i in range(n + 1)]
        self.groups = [InstantGroup(setting, seeds[edges[i] : edges[i + 1]]) for i in range(n)]
        self._starts = [group.state() for group in self.groups]
        self._pool = ThreadPoolExecutor(n - 1) if n > 1 else None

    def restart(self, setting: GroupSetting) -> None:
        """Stand at step 0 again, under another optimizer's setting."""
        self.setting = setting
        for group, start in zip(self.groups, self._starts, strict=True):
            group.change(setting)
            group.load(start)

    def advance(self, n_steps: int) -> None:
        """Make `n_steps` updates of every run."""
        self._each(lambda group: group.advance(n_steps))

    def evaluate(self) -> Metrics:
        """As a group's, of all runs."""
        return _joined(self._each(lambda group: group.evaluate()))

    def train(self, n_steps: int) -> Metrics:
        """Both, without waiting for each other in between."""

        def work(group: InstantGroup) -> Metrics:
            group.advance(n_steps)
            return group.evaluate()

        return _joined(self._each(work))

    def theta(self) -> Float[np.ndarray, "run parameter"]:
        """A copy of the weights of every run."""
        return np.concatenate([group.theta() for group in self.groups])

    def _each(self, work: Callable[[InstantGroup], Answer]) -> list[Answer]:
        if self._pool is None:
            return [work(self.groups[0])]
        others = [self._pool.submit(work, group) for group in self.groups[1:]]
        try:
            first = work(self.groups[0])
        finally:
            wait(others)
        return [first, *(other.result() for other in others)]


def _joined(of_groups: Sequence[dict[str, np.ndarray]]) -> Metrics:
    return {name: np.concatenate([metrics[name] for metrics in of_groups]) for name in of_groups[0]}
