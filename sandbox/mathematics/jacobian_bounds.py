"""Bounds on the condition of a head's Jacobian: the paper's expression, and two that are proved."""

import numpy as np
from jaxtyping import Float, Real

from sandbox.mathematics.condition import condition_number, default_tolerance, singular_values, spectrum_ends
from sandbox.mathematics.jacobian_factors import AttentionFactors


def softmax_covariance_values(weights: Real[np.ndarray, "query key"]) -> Float[np.ndarray, " value"]:
    """Singular values of Lambda(P), descending: those of the blocks Diag(p) - p p^T of every row p.

    Lambda is block-diagonal and never formed. Each block sends the vector of ones to 0, so it is always
    singular, and at least one value per row is zero up to rounding.
    """
    rows = np.asarray(weights, dtype=np.float64)
    blocks = rows[:, :, None] * (np.eye(rows.shape[1]) - rows[:, None, :])
    return np.sort(np.abs(np.linalg.eigvalsh(blocks)), axis=None)[::-1]


def paper_expression(factors: AttentionFactors) -> float:
    """kappa(X)^3 kappa_+(Lambda(P)) kappa(W_V) (kappa(W_Q) + kappa(W_K)) + kappa(X) kappa(P).

    Read literally it is infinite, because Lambda is always singular; with kappa_+ (our reading) it is finite
    but no bound, so it is never shown as a certificate. (Saratchandran & Lucey 2603.07162, Eq. 10)
    """
    kappa_x, kappa_p, kappa_q, kappa_k, kappa_v = (
        float(condition_number(m)) for m in (factors.tokens, factors.weights, *factors.projections)
    )
    values = softmax_covariance_values(factors.weights)
    kept = values[values > default_tolerance(len(values), len(values)) * values[0]]
    kappa_lambda = float(kept[0] / kept[-1]) if len(kept) else np.inf
    return kappa_x**3 * kappa_lambda * kappa_v * (kappa_q + kappa_k) + kappa_x * kappa_p


def norm_bound(factors: AttentionFactors) -> float:
    """sqrt((s/2 |X|^3 |W_V|)^2 (|W_Q|^2 + |W_K|^2) + |PX|^2) / sigma_min(PX) >= kappa(J); spectral norms.

    Proved where N <= D and P X has full row rank, infinite elsewhere, where it says nothing. (derived)
    """
    length_x, length_q, length_k, length_v = (
        float(singular_values(m)[0]) for m in (factors.tokens, *factors.projections)
    )
    through_scores = (factors.scale / 2 * length_x**3 * length_v) ** 2 * (length_q**2 + length_k**2)
    return _over_smallest(through_scores, factors.mixed)


def row_bound(factors: AttentionFactors) -> float:
    """sqrt(s^2 |X|^2 max_n |M_n|^2 + s^2 |Q|^2 max_n |U_n|^2 + |PX|^2) / sigma_min(PX) >= kappa(J).

    Proved where N <= D and P X has full row rank, infinite elsewhere, where it says nothing; 1.01 to 1.7
    times the true value in practice. (derived)
    """
    tokens, queries = (singular_values(part)[0] for part in (factors.tokens, factors.queries))
    through_keys, contrast = (
        singular_values(part)[:, 0].max() for part in (factors.through_keys, factors.contrast)
    )
    through_scores = float(factors.scale**2 * ((tokens * through_keys) ** 2 + (queries * contrast) ** 2))
    return _over_smallest(through_scores, factors.mixed)


def _over_smallest(squared_norm: float, mixed: np.ndarray) -> float:
    ends = spectrum_ends(mixed)
    if int(ends.rank) < len(mixed):
        return float("inf")
    return float(np.sqrt(squared_norm + float(ends.largest) ** 2) / float(ends.smallest))
