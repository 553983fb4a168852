"""Attention rows as integers, so that sums over subsets of keys are exact and theta's bracket stays sound."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

TOTAL_BITS = 60  # a row sums to about 2^60, so twice a difference of two sums still fits int64
RELATIVE_ROUNDING = 10 * 2.0**-53  # two quotients of 3 roundings, a product, the margin, and two spare


class FixedPointRows(NamedTuple):
    """Rows scaled by a power of two, rounded to integers and sorted from the largest key down.

    `slack` bounds the sum of a row's rounding errors, in units; it is 0 where every weight was representable,
    as is any weight of at least 1/128 of its row's sum.
    """

    units: Int[np.ndarray, "row key"]
    total: Int[np.ndarray, " row"]
    slack: Int[np.ndarray, " row"]
    n_keys: Int[np.ndarray, " row"]

    def select(self, rows: np.ndarray) -> "FixedPointRows":
        """The named rows, without the columns that are zero in all of them."""
        n_keys = self.n_keys[rows]
        width = int(n_keys.max(initial=1))
        return FixedPointRows(self.units[rows, :width], self.total[rows], self.slack[rows], n_keys)


class DifferenceBracket(NamedTuple):
    """A difference in units that some split of a row attains, and one that no split goes below."""

    attained: Int[np.ndarray, " row"]
    bound: Int[np.ndarray, " row"]


def fixed_point_rows(values: Float[np.ndarray, "row key"]) -> FixedPointRows:
    """Integers in proportion to each row; rows must be finite, non-negative and hold one positive value.

    theta depends on proportions alone, and scaling by a power of two is exact, so no division is needed.
    """
    values = np.ascontiguousarray(np.sort(values, axis=1)[:, ::-1])
    peak_exponent = np.frexp(values[:, 0])[1]
    scaled = np.ldexp(values, -peak_exponent[:, None])  # below 1: sums cannot overflow
    # Added from the largest down, so that the scale sees neither the order of keys nor padding.
    sum_exponent = np.frexp(np.cumsum(scaled, axis=1)[:, -1])[1]
    fixed = np.ldexp(scaled, TOTAL_BITS - sum_exponent[:, None])
    rounded = np.rint(fixed)
    inexact = (rounded != fixed) | ((values > 0) & (rounded == 0))
    units = rounded.astype(np.int64)
    n_keys = np.count_nonzero(units, axis=1)
    return FixedPointRows(
        units=np.ascontiguousarray(units[:, : int(n_keys.max(initial=1))]),
        total=units.sum(axis=1),
        slack=(np.count_nonzero(inexact, axis=1) + 1) // 2,  # each rounding is at most half a unit
        n_keys=n_keys,
    )


def theta_at_least(difference: Int[np.ndarray, " row"], rows: FixedPointRows) -> Float[np.ndarray, " row"]:
    """Sound lower value of theta when some subset leaves `difference` units between the two sides."""
    side = np.maximum((rows.total - difference) // 2 - rows.slack, 0)
    total = rows.total + rows.slack
    return np.where(2 * side >= total, 1.0, _four_x_one_minus_x(side, total) * (1 - RELATIVE_ROUNDING))


def theta_at_most(difference: Int[np.ndarray, " row"], rows: FixedPointRows) -> Float[np.ndarray, " row"]:
    """Sound upper value of theta when every subset leaves at least `difference` units between its sides."""
    side = (rows.total - difference) // 2 + rows.slack
    total = rows.total - rows.slack
    value = _four_x_one_minus_x(np.minimum(side, total), total) * (1 + RELATIVE_ROUNDING)
    return np.where(2 * side >= total, 1.0, np.minimum(value, 1.0))


def _four_x_one_minus_x(side: np.ndarray, total: np.ndarray) -> np.ndarray:
    return 4.0 * (side / total) * ((total - side) / total)
