"""Smoothing: a mean over neighbours that invents nothing: constants stay, gaps stay gaps."""

import numpy as np
from jaxtyping import Float

from sandbox.foundations.errors import InvalidData


def moving_mean(values: Float[np.ndarray, " n"], reach: int) -> Float[np.ndarray, " n"]:
    """The mean of each value and its finite neighbours up to `reach` points to either side.

    Neighbours are looked for up to the next value that is not finite, so that nothing is averaged across
    a gap, and what is not finite stays as it is. `reach` 0 changes nothing; InvalidData below 0.
    """
    if reach < 0:
        raise InvalidData(f"A smoothing reach is {reach}; give 0 (off) or more points.")
    values = np.asarray(values, dtype=np.float64)
    if not reach or not len(values):
        return values.copy()
    smooth = values.copy()
    edges = np.flatnonzero(np.diff(np.concatenate([[0], np.isfinite(values).astype(np.int8), [0]])))
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        # Less the first value: sums of numbers near zero keep constants constant to the last bit.
        part = values[start:stop] - values[start]
        sums = np.concatenate([[0.0], np.cumsum(part)])
        at = np.arange(len(part))
        low, high = np.maximum(at - reach, 0), np.minimum(at + reach + 1, len(part))
        smooth[start:stop] = values[start] + (sums[high] - sums[low]) / (high - low)
    return smooth
