"""Rows of one series as they grow: steps and their values in one buffer."""

import re

import numpy as np

NUMBERS = re.compile(r"\d+")


def array_of(dtype: str, shape: str, data: bytes) -> np.ndarray:
    """An array as the store keeps it."""
    return np.frombuffer(data, dtype=np.dtype(dtype)).reshape([int(n) for n in NUMBERS.findall(shape)])


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

    def insert(self, step: int, values: np.ndarray) -> None:
        """Put a row in its place before later ones, or in that of its step."""
        at = int(np.searchsorted(self.steps, step))
        if at == self.count or self.steps[at] != step:
            self.append(step, values)
            for buffer in (self._steps, self._values):
                buffer[at + 1 : self.count] = buffer[at : self.count - 1].copy()
        self._steps[at] = step
        self._values[at] = values
