"""What the Jacobian of one attention head is built of, and J or J J^T put together from it."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Real

from sandbox.foundations.errors import InvalidData


class AttentionFactors(NamedTuple):
    """What the row form of the Jacobian is built of, per query n and output channel j.

    `mixed` is P X; `contrast` U_n = sum_m P_nm (V_m - A_n)(X_m - (PX)_n)^T; `through_keys` M_n = U_n W_K.
    `projections` are W_Q, W_K, W_V.
    """

    tokens: Float[np.ndarray, "token model"]
    projections: tuple[
        Float[np.ndarray, "model head"], Float[np.ndarray, "model head"], Float[np.ndarray, "model head"]
    ]
    weights: Float[np.ndarray, "token token"]
    queries: Float[np.ndarray, "token head"]
    mixed: Float[np.ndarray, "token model"]
    contrast: Float[np.ndarray, "token head model"]
    through_keys: Float[np.ndarray, "token head head"]
    scale: float


def attention_weights(
    x: Real[np.ndarray, "token model"],
    w_q: Real[np.ndarray, "model head"],
    w_k: Real[np.ndarray, "model head"],
    scale: float,
    mask: Bool[np.ndarray, "token token"] | None = None,
) -> Float[np.ndarray, "token token"]:
    """P = row softmax of scale X W_Q W_K^T X^T; `mask` is true where a key is visible."""
    scores = scale * (x @ w_q) @ (x @ w_k).T
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def attention_factors(
    x: Real[np.ndarray, "token model"],
    w_q: Real[np.ndarray, "model head"],
    w_k: Real[np.ndarray, "model head"],
    w_v: Real[np.ndarray, "model head"],
    scale: float,
    mask: Bool[np.ndarray, "token token"] | None = None,
) -> AttentionFactors:
    """Factors of the row form, centred so that large values do not cancel.

    Projections are the papers' D x d matrices, the transpose of nn.Linear.weight. Raises InvalidData where
    shapes do not fit, an entry is not finite, or the mask leaves a query without a key.
    """
    x, w_q, w_k, w_v = (np.asarray(part, dtype=np.float64) for part in (x, w_q, w_k, w_v))
    check_head(x, (w_q, w_k, w_v), mask)
    weights = attention_weights(x, w_q, w_k, scale, mask)
    mixed = weights @ x
    values = x @ w_v
    values_apart = values[None] - (weights @ values)[:, None]  # query key head
    tokens_apart = x[None] - mixed[:, None]  # query key model
    weighted = np.swapaxes(weights[..., None] * values_apart, 1, 2)
    contrast = weighted @ tokens_apart
    return AttentionFactors(
        x, (w_q, w_k, w_v), weights, x @ w_q, mixed, contrast, contrast @ w_k, float(scale)
    )


def jacobian_from_factors(factors: AttentionFactors) -> Float[np.ndarray, "output parameter"]:
    """J assembled from its factors, output and parameters read column by column."""
    n_tokens, d_head = factors.queries.shape
    d_model = factors.tokens.shape[1]
    j_q = factors.scale * np.einsum("njk,ni->jnki", factors.through_keys, factors.tokens)
    j_k = factors.scale * np.einsum("nji,nk->jnki", factors.contrast, factors.queries)
    j_v = np.einsum("ni,jk->jnki", factors.mixed, np.eye(d_head))
    blocks = [block.reshape(n_tokens * d_head, d_model * d_head) for block in (j_q, j_k, j_v)]
    return np.concatenate(blocks, axis=1)


def in_token_space(factors: AttentionFactors) -> AttentionFactors:
    """Factors of a J with the same singular values and N in place of D columns a block, where N < D.

    Every row of J lies in the span of the tokens, so their coordinates in an orthonormal basis say it all;
    `projections` stay what they were. (derived)
    """
    if len(factors.tokens) >= factors.tokens.shape[1]:
        return factors
    basis = np.linalg.qr(factors.tokens.T)[0]  # model token
    return factors._replace(
        tokens=factors.tokens @ basis, mixed=factors.mixed @ basis, contrast=factors.contrast @ basis
    )


def gram_from_factors(factors: AttentionFactors) -> Float[np.ndarray, "output output"]:
    """J J^T = s^2 [(M M^T) o X X^T + (U U^T) o Q Q^T] + I (x) (PX)(PX)^T, without J. (derived)"""
    n_tokens, d_head = factors.queries.shape
    m = np.swapaxes(factors.through_keys, 0, 1).reshape(d_head * n_tokens, -1)  # rows (channel, token)
    u = np.swapaxes(factors.contrast, 0, 1).reshape(d_head * n_tokens, -1)
    gram = (m @ m.T) * np.tile(factors.tokens @ factors.tokens.T, (d_head, d_head))
    gram += (u @ u.T) * np.tile(factors.queries @ factors.queries.T, (d_head, d_head))
    gram *= factors.scale**2
    gram += np.kron(np.eye(d_head), factors.mixed @ factors.mixed.T)
    return gram


def check_head(x: np.ndarray, projections: tuple[np.ndarray, ...], mask: np.ndarray | None) -> None:
    """Raise InvalidData where tokens, projections and mask do not make one head of finite numbers."""
    shapes = ", ".join(str(w.shape) for w in projections)
    fits = x.ndim == 2 and 0 not in x.shape and all(w.ndim == 2 and 0 not in w.shape for w in projections)
    if not fits or any(w.shape != (x.shape[1], projections[0].shape[1]) for w in projections):
        raise InvalidData(
            f"Tokens of shape {x.shape} do not fit projections of shapes {shapes}: tokens are N x D and each "
            "projection D x d; nn.Linear's weight is the transpose."
        )
    if not all(np.isfinite(part).all() for part in (x, *projections)):
        raise InvalidData(
            "Tokens or projections hold NaN or infinity, where no Jacobian exists; pass finite ones."
        )
    if mask is not None and (mask.shape != (len(x), len(x)) or not mask.any(axis=1).all()):
        raise InvalidData(
            f"A mask of shape {mask.shape} must be {len(x)} x {len(x)} and leave every query a visible key."
        )
