"""Thinning rows that several seeds share: every bucket keeps each seed's minimum and maximum."""

from itertools import pairwise

import numpy as np
from jaxtyping import Float, Int


def kept_rows(values: Float[np.ndarray, "row column"], buckets: int) -> Int[np.ndarray, " kept"]:
    """Rows to keep: the extremes of each column in `buckets` equal stretches, and where NaNs begin and end.

    The first and last row always stay; at most `2 * column * buckets` rows stay besides NaN borders.
    """
    n, columns = values.shape
    if n <= 2 * columns * buckets + 2:
        return np.arange(n)
    edges = np.linspace(0, n, buckets + 1).astype(int)
    keep = {0, n - 1}
    finite = np.isfinite(values)
    low = np.where(finite, values, np.inf)
    high = np.where(finite, values, -np.inf)
    for start, stop in pairwise(edges):
        keep.update((start + low[start:stop].argmin(axis=0)).tolist())
        keep.update((start + high[start:stop].argmax(axis=0)).tolist())
    borders = np.flatnonzero((finite[1:] != finite[:-1]).any(axis=1))
    keep.update(borders.tolist())
    keep.update((borders + 1).tolist())
    return np.array(sorted(keep))
