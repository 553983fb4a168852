"""Thinning: fewer points for the same picture; extremes, spikes, NaN and Inf all stay."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int64, Integer

FEWEST = 16
"""Points below which no bucket is left for the extremes once NaN and Inf have their marks."""


@dataclass(frozen=True, eq=False)
class Thinned:
    """A thinned curve and how much it stands for, so that "2,000 of 50,000 points" can be said."""

    steps: Int64[np.ndarray, " kept"]
    values: Float[np.ndarray, " kept"]
    total: int
    """Points of the full curve."""
    not_finite: int
    """NaN and Inf among them, all counted although only the first of each bucket is kept."""


def thin(steps: Integer[np.ndarray, " n"], values: Float[np.ndarray, " n"], n: int) -> Thinned:
    """At most `n` (and at least 16) of the points, in order, values unchanged.

    The curve is cut into buckets of equal numbers of points; each keeps its least and greatest
    finite value, the first NaN, +Inf and -Inf in it and the point before the first of those, so
    that a mark can stand at the last finite value. The first and the last point always stay.
    """
    kept = thinned_indices(values, n)
    return Thinned(
        np.asarray(steps)[kept].astype(np.int64),
        np.asarray(values)[kept],
        len(values),
        int(np.count_nonzero(~np.isfinite(values))),
    )


def thinned_indices(values: Float[np.ndarray, " n"], n: int) -> Int64[np.ndarray, " kept"]:
    """The indices that `thin` keeps, ascending."""
    values = np.asarray(values)
    n = max(n, FEWEST)
    if len(values) <= n:
        return np.arange(len(values))
    marks = [mark for mark in (np.isnan(values), values == np.inf, values == -np.inf) if mark.any()]
    per_bucket = 2 + len(marks) + bool(marks)
    size = -(-len(values) // ((n - 2) // per_bucket))
    spare = -len(values) % size
    finite = np.isfinite(values)
    low = _buckets(np.where(finite, values, np.inf), size, spare, np.inf).argmin(axis=1)
    high = _buckets(np.where(finite, values, -np.inf), size, spare, -np.inf).argmax(axis=1)
    starts = np.arange(len(low)) * size
    kept = [np.array([0, len(values) - 1]), starts + low, starts + high]
    for mark in marks:
        first = _buckets(mark, size, spare, False)
        kept.append((starts + first.argmax(axis=1))[first.any(axis=1)])
    if marks:
        first = _buckets(~finite, size, spare, False)
        kept.append(np.maximum((starts + first.argmax(axis=1))[first.any(axis=1)] - 1, 0))
    return np.unique(np.concatenate(kept))


def _buckets(values: np.ndarray, size: int, spare: int, filling: float | bool) -> np.ndarray:
    """`values` as rows of `size`, the last filled up with `filling`, which never wins."""
    return np.concatenate([values, np.full(spare, filling, dtype=values.dtype)]).reshape(-1, size)
