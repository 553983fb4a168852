"""Condition numbers: how unevenly a matrix stretches, and when a direction counts as lost."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, Real

from sandbox.foundations.errors import InvalidData
from sandbox.mathematics.attention_rows import real_numbers


@dataclass(frozen=True, kw_only=True)
class SpectrumEnds:
    """The ends of each matrix's singular values; every field has the shape of the leading axes.

    `tolerance` is relative: values at most `tolerance` times the largest count as zero, here and in `rank`.
    `smallest_nonzero` is NaN where the rank is 0. `kappa` is infinite where a value counts as zero, and
    `kappa_nonzero` where all do.
    """

    largest: Float[np.ndarray, "*stack"]
    smallest: Float[np.ndarray, "*stack"]
    smallest_nonzero: Float[np.ndarray, "*stack"]
    rank: Int[np.ndarray, "*stack"]
    tolerance: float
    kappa: Float[np.ndarray, "*stack"]
    kappa_nonzero: Float[np.ndarray, "*stack"]


def default_tolerance(n_rows: int, n_columns: int) -> float:
    """max(rows, columns) times float64's epsilon: what rounding alone can leave of a lost direction."""
    return float(max(n_rows, n_columns) * np.finfo(np.float64).eps)


class _ScaledValues(NamedTuple):
    """Singular values divided by 2^exponent, so that their ratios neither overflow nor vanish."""

    values: Float[np.ndarray, "*stack value"]
    exponent: Int[np.ndarray, "*stack"]


def singular_values(matrix: np.ndarray) -> Float[np.ndarray, "*stack value"]:
    """Singular values in descending order, in float64; all NaN for a matrix that holds NaN or infinity.

    Takes what a file may hold: raises InvalidData for arrays that hold no matrix or no real numbers.
    """
    return _at_scale(*_scaled_singular_values(matrix))


def spectrum_ends(
    matrix: Real[np.ndarray, "*stack row column"], tolerance: float | None = None
) -> SpectrumEnds:
    """Ends of the singular values, the numerical rank at a relative tolerance, and both condition numbers.

    The tolerance defaults to max(rows, columns) times float64's epsilon. Raises InvalidData where it lies
    outside [0, 1).
    """
    values, exponent = _scaled_singular_values(matrix)
    tolerance = _checked_tolerance(tolerance, np.shape(matrix))
    rank, last = _rank_and_last(values, tolerance)
    kept_ends = np.stack([values[..., 0], values[..., -1], np.where(rank > 0, last, np.nan)], axis=-1)
    ends = _at_scale(kept_ends, exponent)
    return SpectrumEnds(
        largest=ends[..., 0],
        smallest=ends[..., 1],
        smallest_nonzero=ends[..., 2],
        rank=rank,
        tolerance=tolerance,
        kappa=_ratio(values, rank, last, least_rank=values.shape[-1]),
        kappa_nonzero=_ratio(values, rank, last, least_rank=1),
    )


def numerical_rank(
    matrix: Real[np.ndarray, "*stack row column"], tolerance: float | None = None
) -> Int[np.ndarray, "*stack"]:
    """Number of singular values above `tolerance` times the largest (default max(rows, columns) epsilon)."""
    return spectrum_ends(matrix, tolerance).rank


def condition_number(matrix: Real[np.ndarray, "*stack row column"]) -> Float[np.ndarray, "*stack"]:
    """kappa = sigma_max / sigma_min, at least 1; over the two last axes.

    Infinite where sigma_min is at most max(rows, columns) epsilon sigma_max (float64): such a matrix cannot
    be told from a singular one. The zero matrix is singular. NaN only where an entry is not finite.
    (Saratchandran & Lucey 2603.07162)
    """
    return spectrum_ends(matrix).kappa


def condition_number_nonzero(
    matrix: Real[np.ndarray, "*stack row column"], tolerance: float | None = None
) -> Float[np.ndarray, "*stack"]:
    """kappa_+ = sigma_max / (smallest singular value above `tolerance` times sigma_max); at least 1.

    The tolerance is relative and defaults to max(rows, columns) epsilon (float64). Infinite for the zero
    matrix, which has no non-zero value; NaN only where an entry is not finite.
    """
    return spectrum_ends(matrix, tolerance).kappa_nonzero


def _scaled_singular_values(matrix: np.ndarray) -> _ScaledValues:
    stack = real_numbers(matrix)
    if stack.ndim < 2 or 0 in stack.shape[-2:]:
        raise InvalidData(
            f"An array of shape {stack.shape} holds no matrix; give last axes of at least one row and column."
        )
    finite = np.asarray(np.isfinite(stack).all(axis=(-2, -1)))
    stack = np.where(finite[..., None, None], stack, 0.0)
    exponent = np.asarray(np.frexp(np.abs(stack).max(axis=(-2, -1)))[1])
    values = np.linalg.svd(np.ldexp(stack, -exponent[..., None, None]), compute_uv=False)
    return _ScaledValues(np.where(finite[..., None], values, np.nan), exponent)


def _at_scale(values: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):  # a norm beyond the largest float is infinite
        return np.ldexp(values, exponent[..., None])


def _rank_and_last(values: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    kept = (values > tolerance * values[..., :1]) & (values > 0)
    rank = np.asarray(kept.sum(axis=-1))
    last = np.take_along_axis(values, np.maximum(rank - 1, 0)[..., None], axis=-1)[..., 0]
    return rank, last


def _ratio(values: np.ndarray, rank: np.ndarray, last: np.ndarray, least_rank: int) -> np.ndarray:
    largest, regular = values[..., 0], rank >= least_rank
    with np.errstate(over="ignore"):  # a tolerance of 0 keeps values too small to divide by
        ratio = np.where(regular, largest / np.where(regular, last, 1.0), np.inf)
    return np.where(np.isnan(largest), np.nan, ratio)


def _checked_tolerance(tolerance: float | None, shape: tuple[int, ...]) -> float:
    if tolerance is None:
        return default_tolerance(*shape[-2:])
    if not 0.0 <= tolerance < 1.0:
        raise InvalidData(
            f"The tolerance {tolerance} is relative to the largest singular value and must lie in [0, 1)."
        )
    return float(tolerance)
