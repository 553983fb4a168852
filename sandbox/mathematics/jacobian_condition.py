"""How well conditioned one head's Jacobian is, measured against the rank its structure allows."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Real

from sandbox.mathematics.condition import default_tolerance, numerical_rank
from sandbox.mathematics.jacobian_factors import (
    AttentionFactors,
    attention_factors,
    gram_from_factors,
    in_token_space,
    jacobian_from_factors,
)

# Squaring halves the digits: at this ratio of eigenvalues (kappa 1e5) kappa is still good to about 1e-6.
SMALLEST_GRAM_RATIO = 1e-10


@dataclass(frozen=True, kw_only=True)
class JacobianCondition:
    """Singular values of J at its ends, with its numerical rank and the rank that its structure allows.

    `kappa` is over the leading `ceiling` values and infinite where `rank` stays below the ceiling;
    `kappa_effective` ends at the value numbered `rank`. `tolerance` is relative to `largest`. `method` says
    where the values come from.
    """

    largest: float
    smallest_nonzero: float
    smallest_at_ceiling: float
    rank: int
    ceiling: int
    tolerance: float
    kappa: float
    kappa_effective: float
    method: Literal["gram", "svd"]


def structural_ceiling(n_tokens: int, d_head: int, token_rank: int) -> int:
    """Largest rank J can have: min(N d, 2 D r - r^2 + D d), D the rank of X and r = min(d, D).

    (W_Q G, W_K G^-T) leaves the head unchanged, so r^2 directions are always lost. (derived)
    """
    r = min(d_head, token_rank)
    return min(n_tokens * d_head, 2 * token_rank * r - r * r + token_rank * d_head)


def jacobian_condition(
    x: Real[np.ndarray, "token model"],
    w_q: Real[np.ndarray, "model head"],
    w_k: Real[np.ndarray, "model head"],
    w_v: Real[np.ndarray, "model head"],
    scale: float,
    mask: Bool[np.ndarray, "token token"] | None = None,
) -> JacobianCondition:
    """kappa(J) with rank, ceiling and tolerance: by eigenvalues of J J^T where digits suffice, else by SVD.

    Singular values at most max(N d, 3 D d) epsilon sigma_max count as zero. Raises InvalidData as
    attention_factors does. (Saratchandran & Lucey 2603.07162, Thm 3.4; rank and ceiling are derived)
    """
    return condition_of(attention_factors(x, w_q, w_k, w_v, scale, mask))


def condition_of(factors: AttentionFactors) -> JacobianCondition:
    """`jacobian_condition` of factors that are known already, so that bounds can share them."""
    n_tokens, d_head = factors.queries.shape
    d_model = factors.tokens.shape[1]
    ceiling = structural_ceiling(n_tokens, d_head, int(numerical_rank(factors.tokens)))
    tolerance = default_tolerance(n_tokens * d_head, 3 * d_model * d_head)
    values, method = _leading_singular_values(factors, ceiling)
    return _conclude(values, ceiling, tolerance, method)


def rank_sentence(kappa: float, rank: float, ceiling: float) -> str:
    """kappa as it is said: a number, or "infinite (rank r of R)" where J loses rank beyond its structure."""
    return f"infinite (rank {rank:g} of {ceiling:g})" if np.isinf(kappa) else f"{kappa:.4g}"


def _leading_singular_values(
    factors: AttentionFactors, ceiling: int
) -> tuple[Float[np.ndarray, " value"], Literal["gram", "svd"]]:
    n_outputs = factors.queries.size
    n_parameters = 3 * factors.tokens.shape[1] * factors.queries.shape[1]
    if n_outputs <= n_parameters:
        eigenvalues = np.linalg.eigvalsh(gram_from_factors(factors))[::-1][:ceiling]
        if len(eigenvalues) and eigenvalues[-1] > SMALLEST_GRAM_RATIO * eigenvalues[0]:
            return np.sqrt(eigenvalues), "gram"
    return np.linalg.svd(jacobian_from_factors(in_token_space(factors)), compute_uv=False), "svd"


def _conclude(
    values: np.ndarray, ceiling: int, tolerance: float, method: Literal["gram", "svd"]
) -> JacobianCondition:
    largest = float(values[0])
    rank = int(np.count_nonzero((values > tolerance * largest) & (values > 0)))
    smallest_nonzero = float(values[rank - 1]) if rank else 0.0
    smallest_at_ceiling = float(values[ceiling - 1]) if ceiling else 0.0
    return JacobianCondition(
        largest=largest,
        smallest_nonzero=smallest_nonzero,
        smallest_at_ceiling=smallest_at_ceiling,
        rank=rank,
        ceiling=ceiling,
        tolerance=tolerance,
        kappa=largest / smallest_at_ceiling if ceiling and rank >= ceiling else np.inf,
        kappa_effective=largest / smallest_nonzero if rank else np.inf,
        method=method,
    )
