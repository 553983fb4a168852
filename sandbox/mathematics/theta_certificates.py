"""Lower bounds of theta: every subset of keys certifies one, and these subsets are quick to find.

Each function takes rows of integers sorted from the largest down and returns how far apart the two sides
stay. Which certificate Emadi (2602.18849) used is not public; our reading offers the usual ones.
"""

import numpy as np
from jaxtyping import Float, Int, Real

from sandbox.mathematics.attention_rows import Mask, visible_rows
from sandbox.mathematics.fixed_point import FixedPointRows, fixed_point_rows, theta_at_least
from sandbox.mathematics.theta_compiled import compiled_certificates, is_compiled


def sorted_prefix(
    units: Int[np.ndarray, "row key"], total: Int[np.ndarray, " row"]
) -> Int[np.ndarray, " row"]:
    """Best split into the largest keys and the rest."""
    return np.abs(2 * np.cumsum(units, axis=1) - total[:, None]).min(axis=1)


def longest_first(units: Int[np.ndarray, "row key"]) -> Int[np.ndarray, " row"]:
    """Greedy split (LPT): each key, from the largest, goes to the lighter side. (Graham 1969)"""
    difference = np.zeros(len(units), dtype=np.int64)
    for column in np.ascontiguousarray(units.T):
        np.abs(difference - column, out=difference)
    return difference


def fill_below_half(
    units: Int[np.ndarray, "row key"], total: Int[np.ndarray, " row"]
) -> Int[np.ndarray, " row"]:
    """Fill one side from the largest key down, skipping what would take it past one half."""
    room = total // 2
    for column in np.ascontiguousarray(units.T):
        room = room - np.where(column <= room, column, 0)
    return total - 2 * (total // 2 - room)


def difference_largest(units: Int[np.ndarray, "row key"], n_left: int) -> Int[np.ndarray, "row left"]:
    """Replace the two largest keys by their difference until `n_left` remain, still sorted.

    (Karmarkar & Karp 1982, largest differencing)
    Any signed sum of what remains is a signed sum of all keys, so a split of the remainder certifies the row.
    """
    n_rows, width = units.shape
    items = np.ascontiguousarray(units.T)
    n_keys = np.count_nonzero(units, axis=1)
    for done in range(max(width - n_left, 0)):
        difference = items[0] - items[1]
        rest = items[2:]
        above = np.concatenate([np.full((1, n_rows), np.iinfo(np.int64).max), rest])
        below = np.concatenate([rest, np.zeros((1, n_rows), dtype=np.int64)])
        inserted = np.maximum(below, np.minimum(above, difference))
        # A row of few keys is left alone, whoever stands beside it: what falls off its end is a zero.
        items = np.where(done < n_keys - n_left, inserted, items[:-1])
    return np.ascontiguousarray(items.T)


def place_all_but_some(rows: FixedPointRows, n_left: int) -> Int[np.ndarray, "row left"]:
    """Keep n_left - 1 keys of evenly spread size, place the others greedily, and append their difference.

    Differencing nearly equal keys loses what a few of them could still balance; this keeps it. Rows must hold
    at least `n_left` keys. (derived)
    """
    ranks = np.arange(n_left - 1) * (rows.n_keys[:, None] - 1) // max(n_left - 2, 1)
    kept = np.take_along_axis(rows.units, ranks, axis=1)
    placed = rows.units.copy()
    np.put_along_axis(placed, ranks, 0, axis=1)
    return np.concatenate([kept, longest_first(placed)[:, None]], axis=1)


def karmarkar_karp(units: Int[np.ndarray, "row key"]) -> Int[np.ndarray, " row"]:
    """Difference that is left when the two largest keys are replaced by theirs until one remains."""
    return difference_largest(units, 1)[:, 0]


def dominant_atom(weights: Real[np.ndarray, "*rows key"], mask: Mask = None) -> Float[np.ndarray, "*rows"]:
    """p_max, the largest visible weight divided by the row's sum; from 1/2 on, theta is 4 p_max (1 - p_max).

    NaN for a row without visible weight. (Emadi 2602.18849, dominant-atom regime)
    """
    values = visible_rows(weights, mask).values
    peak = values.max(axis=-1, initial=0.0)
    has_weight = peak > 0
    divisor = np.where(has_weight, peak, 1.0)
    shares = (values / divisor[..., None]).sum(axis=-1)  # 1 / p_max, safe from overflow
    return np.where(has_weight, 1.0 / np.where(has_weight, shares, 1.0), np.nan)


def theta_certificates(
    weights: Real[np.ndarray, "*rows key"], mask: Mask = None
) -> dict[str, Float[np.ndarray, "*rows"]]:
    """Sound lower bounds of theta by name, each shaped as the rows; NaN for a row without visible weight.

    `one_minus_square` is 1 - p_max^2: it holds for every row, because the greedy split leaves at most p_max.
    Raises InvalidData, naming the row, for negative or non-finite visible weights.
    """
    values = visible_rows(weights, mask).values
    shape = values.shape[:-1]
    flat = values.reshape(int(np.prod(shape)), values.shape[-1])
    if is_compiled():
        bounds = compiled_certificates(flat, len(CERTIFICATE_NAMES))
    else:
        bounds = _searched_certificates(flat)
    return {name: bound.reshape(shape) for name, bound in zip(CERTIFICATE_NAMES, bounds, strict=True)}


def _searched_certificates(flat: Float[np.ndarray, "row key"]) -> Float[np.ndarray, "bound row"]:
    """The same with NumPy alone: what the kernels are held to, and what stands in for them."""
    usable = np.flatnonzero(flat.max(axis=1, initial=0.0) > 0)
    bounds = np.full((len(CERTIFICATE_NAMES), len(flat)), np.nan)
    if len(usable):
        rows = fixed_point_rows(flat[usable])
        for bound, difference in zip(bounds, _differences(rows), strict=True):
            bound[usable] = theta_at_least(difference, rows)
    return bounds


CERTIFICATE_NAMES = (
    "dominant_atom",
    "one_minus_square",
    "sorted_prefix",
    "longest_first",
    "fill_below_half",
    "karmarkar_karp",
)


def _differences(rows: FixedPointRows) -> tuple[Int[np.ndarray, " row"], ...]:
    largest = rows.units[:, 0]
    return (
        np.abs(2 * largest - rows.total),
        largest,
        sorted_prefix(rows.units, rows.total),
        longest_first(rows.units),
        fill_below_half(rows.units, rows.total),
        karmarkar_karp(rows.units),
    )
