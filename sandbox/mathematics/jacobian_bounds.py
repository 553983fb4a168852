"""Bounds on the condition of a head's Jacobian: the paper's expression, and two that are proved."""

import numpy as np
from jaxtyping import Bool, Float, Real

from sandbox.mathematics.condition import (
    condition_number,
    condition_number_nonzero,
    singular_values,
    spectrum_ends,
)
from sandbox.mathematics.jacobian_factors import attention_factors, attention_weights


def softmax_covariance(weights: Real[np.ndarray, "query key"]) -> Float[np.ndarray, "entry entry"]:
    """Lambda(P): the block Diag(p) - p p^T for every row p; always singular, since each block sends 1 to 0.

    Blocks stand one row after the other, which changes the order of entries and no singular value.
    """
    n_queries, n_keys = weights.shape
    covariance = np.zeros((n_queries, n_keys, n_queries, n_keys))
    for query, row in enumerate(weights):
        covariance[query, :, query, :] = np.diag(row) - np.outer(row, row)
    return covariance.reshape(n_queries * n_keys, n_queries * n_keys)


def paper_expression(
    x: Real[np.ndarray, "token model"],
    w_q: Real[np.ndarray, "model head"],
    w_k: Real[np.ndarray, "model head"],
    w_v: Real[np.ndarray, "model head"],
    scale: float,
    mask: Bool[np.ndarray, "token token"] | None = None,
) -> float:
    """kappa(X)^3 kappa_+(Lambda(P)) kappa(W_V) (kappa(W_Q) + kappa(W_K)) + kappa(X) kappa(P).

    Read literally it is infinite, because Lambda is always singular; with kappa_+ (our reading) it is finite
    but no bound, so it is never shown as a certificate. (Saratchandran & Lucey 2603.07162, Eq. 10)
    """
    weights = attention_weights(x, w_q, w_k, scale, mask)
    kappa_x, kappa_p, kappa_q, kappa_k, kappa_v = (
        float(condition_number(m)) for m in (x, weights, w_q, w_k, w_v)
    )
    kappa_lambda = float(condition_number_nonzero(softmax_covariance(weights)))
    return kappa_x**3 * kappa_lambda * kappa_v * (kappa_q + kappa_k) + kappa_x * kappa_p


def norm_bound(
    x: Real[np.ndarray, "token model"],
    w_q: Real[np.ndarray, "model head"],
    w_k: Real[np.ndarray, "model head"],
    w_v: Real[np.ndarray, "model head"],
    scale: float,
    mask: Bool[np.ndarray, "token token"] | None = None,
) -> float:
    """sqrt((s/2 |X|^3 |W_V|)^2 (|W_Q|^2 + |W_K|^2) + |PX|^2) / sigma_min(PX) >= kappa(J); spectral norms.

    Proved where N <= D and P X has full row rank, infinite elsewhere, where it says nothing. (derived)
    """
    mixed = attention_weights(x, w_q, w_k, scale, mask) @ x
    length_x, length_q, length_k, length_v = (float(singular_values(m)[0]) for m in (x, w_q, w_k, w_v))
    through_scores = (scale / 2 * length_x**3 * length_v) ** 2 * (length_q**2 + length_k**2)
    return _over_smallest(through_scores, mixed)


def row_bound(
    x: Real[np.ndarray, "token model"],
    w_q: Real[np.ndarray, "model head"],
    w_k: Real[np.ndarray, "model head"],
    w_v: Real[np.ndarray, "model head"],
    scale: float,
    mask: Bool[np.ndarray, "token token"] | None = None,
) -> float:
    """sqrt(s^2 |X|^2 max_n |M_n|^2 + s^2 |Q|^2 max_n |U_n|^2 + |PX|^2) / sigma_min(PX) >= kappa(J).

    Proved where N <= D and P X has full row rank, infinite elsewhere, where it says nothing; 1.01 to 1.7
    times the true value in practice. (derived)
    """
    factors = attention_factors(x, w_q, w_k, w_v, scale, mask)
    tokens, queries = (singular_values(part)[0] for part in (factors.tokens, factors.queries))
    through_keys, contrast = (
        singular_values(part)[:, 0].max() for part in (factors.through_keys, factors.contrast)
    )
    through_scores = float(scale**2 * ((tokens * through_keys) ** 2 + (queries * contrast) ** 2))
    return _over_smallest(through_scores, factors.mixed)


def _over_smallest(squared_norm: float, mixed: np.ndarray) -> float:
    ends = spectrum_ends(mixed)
    if int(ends.rank) < len(mixed):
        return float("inf")
    return float(np.sqrt(squared_norm + float(ends.largest) ** 2) / float(ends.smallest))
