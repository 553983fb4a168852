"""The ends of a symmetric operator's spectrum by Lanczos' method, with what it cannot vouch for."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

Product = Callable[[np.ndarray], np.ndarray]
"""(*runs, entry) to (*runs, entry): one operator per run, all applied at once."""
BREAKDOWN = 1e-12  # of the largest coefficient: the Krylov space is exhausted, its values are exact


@dataclass(frozen=True, kw_only=True)
class SpectrumBracket:
    """Ritz values at the two ends; each is within its residual of some true eigenvalue.

    The largest is never above the largest eigenvalue, the smallest never below the smallest, up to rounding.
    """

    largest: Float[np.ndarray, "*runs"]
    smallest: Float[np.ndarray, "*runs"]
    residual_largest: Float[np.ndarray, "*runs"]
    residual_smallest: Float[np.ndarray, "*runs"]
    n_products: Int[np.ndarray, "*runs"]


def lanczos_ends(product: Product, start: Float[np.ndarray, "*runs entry"], n_steps: int) -> SpectrumBracket:
    """Largest and smallest Ritz value after `n_steps` products, with full reorthogonalization.

    Every run has its own operator and Krylov space; a run whose space is exhausted early is done, and where a
    product is not finite that run alone is NaN. (Lanczos 1950; Paige 1972 for the residual |beta s_k|)
    """
    runs, n_entries = start.shape[:-1], start.shape[-1]
    v = start.reshape(-1, n_entries)
    v = v / np.linalg.norm(v, axis=1, keepdims=True)
    n_most = min(n_steps, n_entries)
    diagonal, beside = np.zeros((2, len(v), n_most))
    basis = np.zeros((len(v), n_most, n_entries))
    n_products = np.zeros(len(v), dtype=np.int64)
    going, sound = np.ones(len(v), dtype=np.bool_), np.ones(len(v), dtype=np.bool_)
    for step in range(n_most):
        basis[:, step] = v
        w = product(v.reshape(start.shape)).reshape(v.shape)
        n_products[going] = step + 1
        sound &= ~going | np.isfinite(w).all(axis=1)
        going &= sound
        w = np.where(going[:, None], w, 0.0)
        diagonal[:, step] = _along(basis[:, step : step + 1], w)[:, 0]
        known = basis[:, : step + 1]
        for _ in range(2):  # once is not enough in floating point, twice is
            w = w - np.matmul(_along(known, w)[:, None], known)[:, 0]
        length = np.linalg.norm(w, axis=1)
        so_far = np.maximum(np.abs(diagonal).max(axis=1), np.maximum(beside.max(axis=1), length))
        going &= length > BREAKDOWN * so_far
        beside[:, step] = np.where(going, length, 0.0)
        v = np.where(going[:, None], w, 0.0) / np.where(going, length, 1.0)[:, None]
        if not going.any():
            break
    return _ritz_ends(diagonal, beside, n_products, sound, runs)


def _along(basis: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Products of each run's vectors (run, vector, entry) with its w (run, entry)."""
    return np.matmul(basis, w[..., None])[..., 0]


def _ritz_ends(
    diagonal: np.ndarray,
    beside: np.ndarray,
    n_products: np.ndarray,
    sound: np.ndarray,
    runs: tuple[int, ...],
) -> SpectrumBracket:
    """Eigenvalues at the ends of each run's tridiagonal matrix, with |beta s_k| of each."""
    table = np.full((4, len(diagonal)), np.nan)
    for n in np.unique(n_products[sound]):
        some = np.flatnonzero(sound & (n_products == n))
        matrix = np.zeros((len(some), n, n))
        places = np.arange(n)
        matrix[:, places, places] = diagonal[some, :n]
        matrix[:, places[1:], places[:-1]] = beside[some, : n - 1]  # eigh reads the lower half
        values, vectors = np.linalg.eigh(matrix)
        last = beside[some, n - 1]
        table[:, some] = (
            values[:, -1], values[:, 0], np.abs(last * vectors[:, -1, -1]), np.abs(last * vectors[:, -1, 0]),
        )  # fmt: skip
    largest, smallest, residual_largest, residual_smallest = (row.reshape(runs) for row in table)
    return SpectrumBracket(
        largest=largest,
        smallest=smallest,
        residual_largest=residual_largest,
        residual_smallest=residual_smallest,
        n_products=n_products.reshape(runs),
    )
