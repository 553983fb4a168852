"""Rows of one series as they grow: steps and their values in one buffer."""

import numpy as np


class Rows:
    """Growing rows of one series: ascending steps and their values, in one buffer."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.count = 0
        self._steps = np.zeros(64, dtype=np.uint32)
        self._values = np.zeros((64, *shape), dtype=np.float32)

    @property
    def steps(self) -> np.ndarray:
        return self._steps[: self.count]

    @property
    def values(self) -> np.ndarray:
        return self._values[: self.count]

    @property
    def last(self) -> int:
        return int(self._steps[self.count - 1]) if self.count else -1

    def append(self, step: int, values: np.ndarray) -> None:
        if self.count == len(self._steps):
            self._steps = np.concatenate([self._steps, np.zeros_like(self._steps)])
            self._values = np.concatenate([self._values, np.zeros_like(self._values)])
        self._steps[self.count] = step
        self._values[self.count] = values
        self.count += 1
