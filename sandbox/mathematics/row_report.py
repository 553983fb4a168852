"""Row report: theta, p_max and entropy of every row of a large array, a chunk at a time."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from sandbox.foundations.errors import InvalidData
from sandbox.mathematics.attention_rows import REAL_KINDS, place_name
from sandbox.mathematics.entropy import row_entropy
from sandbox.mathematics.theta import DEFAULT_GAP, theta_bracket
from sandbox.mathematics.theta_certificates import dominant_atom, theta_certificates

CHUNK_WEIGHTS = 2**19  # 4 MB in float64: a chunk and its copies stay small beside the file
ROUNDINGS_PER_SUM = 4.0  # of a row added up in float32, in units of its epsilon times sqrt(keys)

LARGE = 1e100  # weights from which on a row is divided by its largest, before anything is added up


class RowReport(NamedTuple):
    """Consecutive rows, from number `first` of the array's rows on, leading axes flattened in order."""

    first: int
    lower: Float[np.ndarray, " row"]
    upper: Float[np.ndarray, " row"]
    exact: Bool[np.ndarray, " row"]
    p_max: Float[np.ndarray, " row"]
    entropy: Float[np.ndarray, " row"]
    certificates: dict[str, Float[np.ndarray, " row"]]
    """Every kind of lower bound by name; empty unless they were asked for."""


def sum_tolerance(dtype: np.dtype, n_keys: int) -> float:
    """How far from 1 rounding to `dtype` can leave a row's sum; at least 1e-6, for float32 models.

    Weights are rounded once to `dtype`, which moves the sum by at most its epsilon; models add rows up in
    float32 or better, also where they store half precision.
    """
    added_up = ROUNDINGS_PER_SUM * float(np.finfo(np.float32).eps) * float(np.sqrt(n_keys))
    if dtype.kind != "f" or dtype.itemsize >= 8:
        return 1e-6
    return max(2 * float(np.finfo(dtype).eps), added_up, 1e-6)


def row_reports(
    weights: np.ndarray,
    gap: float = DEFAULT_GAP,
    tolerance: float | None = None,
    certificates: bool = False,
) -> Iterator[RowReport]:
    """Report every row in order; `weights` may be memory-mapped, of any real dtype and leading axes.

    `tolerance` is on a row's sum and defaults to what rounding to the array's dtype can leave. Raises
    InvalidData, naming the row by its place in the leading axes, for a weight that is negative or not finite
    and for a sum that is not 1 within the tolerance. (Emadi 2602.18849)
    """
    if weights.ndim == 0 or weights.shape[-1] == 0 or weights.dtype.kind not in REAL_KINDS:
        raise InvalidData(
            f"An array of shape {weights.shape} and type {weights.dtype} holds no attention rows; give real "
            "numbers with the keys on the last axis."
        )
    n_keys = weights.shape[-1]
    tolerance = sum_tolerance(weights.dtype, n_keys) if tolerance is None else tolerance
    flat = weights.reshape(-1, n_keys)
    step = max(1, CHUNK_WEIGHTS // n_keys)
    for first in range(0, len(flat), step):
        rows = np.asarray(flat[first : first + step], dtype=np.float64)
        _check(rows, first, weights.shape[:-1], tolerance)
        peaks = rows.max(axis=1, keepdims=True)
        rows = np.where(peaks > LARGE, rows / np.maximum(peaks, 1.0), rows)  # so that no sum overflows
        bracket = theta_bracket(rows, gap=gap)
        kinds = theta_certificates(rows) if certificates else {}
        yield RowReport(first, *bracket, dominant_atom(rows), row_entropy(rows), kinds)


def _check(rows: np.ndarray, first: int, leading: tuple[int, ...], tolerance: float) -> None:
    sound = (rows >= 0) & (rows < np.inf)  # false for NaN too
    if not sound.all():
        row, key = (int(i) for i in np.argwhere(~sound)[0])
        raise InvalidData(
            f"Row {place_name(first + row, leading)} holds {rows[row, key]} at key {key}: attention weights "
            "must be finite and at least 0; save attention after softmax."
        )
    with np.errstate(over="ignore"):  # a sum that overflows is infinite, and so far from 1
        sums = rows.sum(axis=1)
    apart = np.abs(sums - 1.0)
    if (apart > tolerance).any():
        row = int((apart > tolerance).argmax())
        raise InvalidData(
            f"Row {place_name(first + row, leading)} sums to {sums[row]:.9g}, not to 1 within "
            f"{tolerance:.3g}; divide rows by their sum, or give a wider tolerance."
        )
