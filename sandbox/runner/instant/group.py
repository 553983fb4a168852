"""The group that an instant computation trains: native, and it remembers in which order rows were drawn."""

from functools import lru_cache

import numpy as np
from jaxtyping import Int32

from sandbox.engine.batches import epoch_order
from sandbox.engine.native.group import NativeGroup

MOST_ORDERS = 1000
"""Of 8 kB each: those of 8 seeds in the epochs that are trained over and over."""


@lru_cache(maxsize=MOST_ORDERS)
def known_order(seed: int, epoch: int, n_rows: int) -> Int32[np.ndarray, " row"]:
    """As `epoch_order`; drawing it takes as long as eight steps of one seed."""
    return epoch_order(seed, epoch, n_rows).astype(np.int32)


class InstantGroup(NativeGroup):
    """A native group that is trained from its start again and again; its numbers are the native group's."""

    def _draw(self, epoch: int) -> None:
        if epoch != self._epoch:
            orders = [known_order(seed, epoch, self._n_rows) for seed in self.seeds]
            self._order, self._epoch = np.stack(orders), epoch
