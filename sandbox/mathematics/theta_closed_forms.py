"""Upper bounds of theta, and the rows where they are met: dominant atoms, odd near-uniform rows, few keys.

All take rows of integers sorted from the largest down.
"""

import numpy as np
from jaxtyping import Int

from sandbox.mathematics.fixed_point import DifferenceBracket, FixedPointRows


def counting_bracket(rows: FixedPointRows, n_heads: int) -> DifferenceBracket:
    """Bracket from counting keys, with the `n_heads` largest ones placed on their sides first.

    Any c of the other keys weigh between their c least and their c largest. Where one half lies in none of
    these intervals, the nearest end is the optimum, so `attained` equals `bound`. With one head this is the
    closed forms p_max >= 1/2, theta = 4 p_max (1 - p_max), and odd uniform rows, theta = 1 - 1/n^2, with
    their neighbourhood, and all rows of at most three keys; with more heads, rows whose largest keys outweigh
    the rest. (derived; verified by brute force in the tests)
    """
    n_heads = min(n_heads, rows.units.shape[1])
    heads, tail = rows.units[:, :n_heads], rows.units[:, n_heads:]
    n_tail = np.clip(rows.n_keys - n_heads, 0, None)
    heaviest = np.concatenate([np.zeros((len(tail), 1), dtype=np.int64), np.cumsum(tail, axis=1)], axis=1)
    counts = np.arange(heaviest.shape[1])
    # Zero weights are not keys: a row's c least keys are counted among its positive ones.
    left_out = np.clip(n_tail[:, None] - counts, 0, None)
    lightest = heaviest[:, -1:] - np.take_along_axis(heaviest, left_out, axis=1)
    attained = np.full(len(tail), np.iinfo(np.int64).max)
    bound = attained.copy()
    for placed in range(2 ** (n_heads - 1)):  # the largest key may stand on the first side
        chosen = np.array([True] + [bool(placed >> i & 1) for i in range(n_heads - 1)])
        offset = (2 * heads[:, chosen].sum(axis=1) - rows.total)[:, None]
        low, high = offset + 2 * lightest, offset + 2 * heaviest
        nearest = np.minimum(np.abs(low), np.abs(high)).min(axis=1)
        attained = np.minimum(attained, nearest)
        bound = np.minimum(bound, np.maximum(np.maximum(low, -high), 0).min(axis=1))
    return DifferenceBracket(attained, bound)


def granularity_bound(rows: FixedPointRows) -> Int[np.ndarray, " row"]:
    """Least difference by divisibility: g if all keys are multiples of g and the total an odd one, else 0."""
    grain = np.gcd.reduce(rows.units, axis=1)
    return np.where((rows.total // grain) % 2 == 1, grain, 0)
