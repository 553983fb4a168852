"""The ends of a symmetric operator's spectrum by Lanczos' method, with what it cannot vouch for."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

Product = Callable[[np.ndarray], np.ndarray]
BREAKDOWN = 1e-12  # of the largest coefficient: the Krylov space is exhausted, its values are exact


@dataclass(frozen=True, kw_only=True)
class SpectrumBracket:
    """Ritz values at the two ends; each is within its residual of some true eigenvalue.

    The largest is never above the largest eigenvalue, the smallest never below the smallest, up to rounding.
    """

    largest: float
    smallest: float
    residual_largest: float
    residual_smallest: float
    n_products: int


def lanczos_ends(product: Product, start: Float[np.ndarray, " entry"], n_steps: int) -> SpectrumBracket:
    """Largest and smallest Ritz value after `n_steps` products, with full reorthogonalization.

    All NaN where a product is not finite. (Lanczos 1950; Paige 1972 for the residual |beta s_k|)
    """
    basis = [start / np.linalg.norm(start)]
    diagonal: list[float] = []
    beside: list[float] = []
    for _ in range(min(n_steps, len(start))):
        w = product(basis[-1])
        if not np.isfinite(w).all():
            nan = float("nan")
            return SpectrumBracket(
                largest=nan, smallest=nan, residual_largest=nan, residual_smallest=nan,
                n_products=len(diagonal) + 1,
            )  # fmt: skip
        diagonal.append(float(basis[-1] @ w))
        known = np.stack(basis)
        for _ in range(2):  # once is not enough in floating point, twice is
            w = w - known.T @ (known @ w)
        beside.append(float(np.linalg.norm(w)))
        if beside[-1] <= BREAKDOWN * max(map(abs, [*diagonal, *beside])):
            beside[-1] = 0.0
            break
        basis.append(w / beside[-1])
    tridiagonal = np.diag(diagonal) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1)
    values, vectors = np.linalg.eigh(tridiagonal)
    return SpectrumBracket(
        largest=float(values[-1]),
        smallest=float(values[0]),
        residual_largest=float(abs(beside[-1] * vectors[-1, -1])),
        residual_smallest=float(abs(beside[-1] * vectors[-1, 0])),
        n_products=len(diagonal),
    )
