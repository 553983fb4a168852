"""theta(p): how sharply softmax can react at a row of attention, as a bracket that always holds the truth."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Real

from sandbox.foundations.errors import InvalidData
from sandbox.mathematics.attention_rows import Mask, visible_rows
from sandbox.mathematics.fixed_point import FixedPointRows, fixed_point_rows, theta_at_least, theta_at_most
from sandbox.mathematics.theta_certificates import (
    difference_largest,
    dominant_atom,
    fill_below_half,
    karmarkar_karp,
    longest_first,
    place_all_but_some,
    sorted_prefix,
    theta_certificates,
)
from sandbox.mathematics.theta_closed_forms import counting_bracket, granularity_bound
from sandbox.mathematics.theta_compiled import compiled_bracket, is_compiled
from sandbox.mathematics.theta_exact import (
    MOST_EXACT_KEYS,
    MOST_SEARCHED_KEYS,
    heads_against_tail,
    smallest_difference,
)

__all__ = ["CHEAPLY_SEARCHED_KEYS", "ThetaBracket", "dominant_atom", "theta_bracket", "theta_certificates"]

CHEAPLY_SEARCHED_KEYS = 16  # 2^7 + 2^8 sums a row, 8 us: exact at hardly more than a certificate's price
DEFAULT_GAP = 1e-6
CHUNK_WEIGHTS = 2**18  # weights worked on at once, 2 MB an array
PLACED_HEADS = 4  # heads whose sides are enumerated for long rows that the first bounds leave open
LONG_ROW_KEYS = (16, 20, 24)  # keys of a long row that are searched completely, more while it stays open


class ThetaBracket(NamedTuple):
    """lower <= theta <= upper per row; `exact` where a closed form or a complete search settled the row.

    An exact row's two ends differ by rounding alone, outward, at most about 1e-14.
    """

    lower: Float[np.ndarray, "*rows"]
    upper: Float[np.ndarray, "*rows"]
    exact: Bool[np.ndarray, "*rows"]


def theta_bracket(
    weights: Real[np.ndarray, "*rows key"],
    mask: Mask = None,
    gap: float = DEFAULT_GAP,
    exact_to: int = MOST_SEARCHED_KEYS,
) -> ThetaBracket:
    """theta(p) = 4 max_S p(S) (1 - p(S)) in [0, 1] over subsets S of the visible keys, p = row / sum.

    `mask` is true where a key is visible. Rows of up to `exact_to` positive weights are exact; those of up to
    24 end exact or within `gap`; longer ones that stay open keep their bracket. One visible key gives 0; no
    visible weight gives NaN, not exact. A row of 24 keys costs 0.04 ms to be exact (0.2 ms without kernels),
    one of 32 keys 0.9 ms (6 ms); one of 64 keys to be within 1e-6 1 us (7 us).
    Raises InvalidData, naming the row, for negative or non-finite visible weights. (Emadi 2602.18849; theta =
    1 - delta^2, delta = min_S |p(S) - p(S^c)|, derived)
    """
    if not 0.0 <= gap <= 1.0:
        raise InvalidData(f"The gap at which a bracket is closed is {gap}, but it must lie between 0 and 1.")
    if not 0 <= exact_to <= MOST_EXACT_KEYS:
        raise InvalidData(
            f"Rows were to be exact up to {exact_to} keys; a complete search reaches 0 to {MOST_EXACT_KEYS}."
        )
    values = visible_rows(weights, mask).values
    shape = values.shape[:-1]
    flat = values.reshape(int(np.prod(shape)), values.shape[-1])
    found = (compiled_bracket if is_compiled() else _searched_bracket)(flat, gap, exact_to)
    return ThetaBracket(*(part.reshape(shape) for part in found))


def _searched_bracket(
    flat: Float[np.ndarray, "row key"], gap: float, exact_to: int
) -> tuple[Float[np.ndarray, " row"], Float[np.ndarray, " row"], Bool[np.ndarray, " row"]]:
    """The same with NumPy alone: what the kernels are held to, and what stands in for them."""
    lower, upper = np.full(len(flat), np.nan), np.full(len(flat), np.nan)
    exact = np.zeros(len(flat), dtype=np.bool_)
    usable = np.flatnonzero(flat.max(axis=1, initial=0.0) > 0)
    step = max(1, CHUNK_WEIGHTS // max(flat.shape[1], 1))
    for start in range(0, len(usable), step):
        some = usable[start : start + step]
        search = _Search(fixed_point_rows(flat[some]), gap, exact_to)
        search.settle()
        lower[some], upper[some], exact[some] = search.lower(), search.upper(), search.exact
    return lower, upper, exact


class _Search:
    """Best split found and bound proven per row, tightened from the cheapest method to the dearest."""

    def __init__(self, rows: FixedPointRows, gap: float, exact_to: int) -> None:
        self.rows, self.gap, self.exact_to = rows, gap, exact_to
        self.attained = rows.total.copy()
        self.bound = rows.total % 2

    @property
    def exact(self) -> np.ndarray:
        return self.attained == self.bound

    def lower(self) -> np.ndarray:
        return theta_at_least(self.attained, self.rows)

    def upper(self) -> np.ndarray:
        return theta_at_most(self.bound, self.rows)

    def settle(self) -> None:
        rows = self.rows
        everyone = np.arange(len(rows.units))
        self._improve(everyone, *counting_bracket(rows, n_heads=1))
        self._improve(everyone, longest_first(rows.units))
        self._improve(everyone, sorted_prefix(rows.units, rows.total))
        short = rows.n_keys <= MOST_SEARCHED_KEYS
        few = rows.n_keys <= self.exact_to
        self._difference_open(~few)
        self._search_completely(np.flatnonzero((few & ~self.exact) | (short & self._open())))
        self._bound_long(~short)

    def _open(self) -> np.ndarray:
        return ~self.exact & (self.upper() - self.lower() > self.gap)

    def _improve(self, which: np.ndarray, attained: np.ndarray, bound: np.ndarray | None = None) -> None:
        self.attained[which] = np.minimum(self.attained[which], attained)
        if bound is not None:
            self.bound[which] = np.maximum(self.bound[which], bound)

    def _difference_open(self, allowed: np.ndarray) -> None:
        which = np.flatnonzero(allowed & self._open())
        if len(which):
            some = self.rows.select(which)
            self._improve(which, karmarkar_karp(some.units))
            self._improve(which, fill_below_half(some.units, some.total))

    def _search_completely(self, which: np.ndarray) -> None:
        for n_keys in np.unique(self.rows.n_keys[which]):
            same = which[self.rows.n_keys[which] == n_keys]
            optimum = smallest_difference(self.rows.units[same, :n_keys])
            self._improve(same, optimum, optimum)

    def _bound_long(self, allowed: np.ndarray) -> None:
        which = np.flatnonzero(allowed & self._open())
        if len(which):
            some = self.rows.select(which)
            self._improve(which, *counting_bracket(some, PLACED_HEADS))
            self._improve(which, self.attained[which], granularity_bound(some))
        for n_searched in LONG_ROW_KEYS:
            which = np.flatnonzero(allowed & self._open())
            if len(which):
                some = self.rows.select(which)
                self._improve(which, *heads_against_tail(some, n_searched))
                self._improve(which, smallest_difference(difference_largest(some.units, n_searched)))
                self._improve(which, smallest_difference(place_all_but_some(some, n_searched)))
