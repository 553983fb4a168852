"""Normalization's Jacobian: how much it can stretch a token, and when a stack of it contracts.

Layer norm centres a token and divides by its spread; with `centred` false this is RMS norm, which divides by
the root mean square alone.
"""

import numpy as np
from jaxtyping import Float, Real


def layer_norm_jacobian(
    x: Real[np.ndarray, "*stack channel"],
    gain: Real[np.ndarray, " channel"],
    epsilon: float = 0.0,
    *,
    centred: bool = True,
) -> Float[np.ndarray, "*stack channel channel"]:
    """diag(gamma)/sigma (I - 11^T/d - x^ x^^T/d), sigma = sqrt(var + epsilon), x^ = (x - mean)/sigma.

    Not centred: diag(gamma)/r (I - x^ x^^T/d), r = sqrt(mean of squares + epsilon), x^ = x/r. (Emadi
    2602.18849; RMS norm: 1910.07467; both agree with automatic differentiation)
    """
    rows = np.asarray(x, dtype=np.float64)
    d = rows.shape[-1]
    sigma = layer_norm_scale(rows, epsilon, centred=centred)
    unit = (rows - rows.mean(axis=-1, keepdims=True) if centred else rows) / sigma[..., None]
    inner = np.eye(d) - centred / d - unit[..., :, None] * unit[..., None, :] / d
    return np.asarray(gain, dtype=np.float64)[:, None] * inner / sigma[..., None, None]


def layer_norm_scale(
    x: Real[np.ndarray, "*stack channel"], epsilon: float = 0.0, *, centred: bool = True
) -> Float[np.ndarray, "*stack"]:
    """sigma = sqrt(variance + epsilon) of each token; not centred: sqrt(mean of squares + epsilon)."""
    rows = np.asarray(x, dtype=np.float64)
    return np.asarray(np.sqrt((rows.var(axis=-1) if centred else (rows**2).mean(axis=-1)) + epsilon))


def layer_norm_norm_bound(
    x: Real[np.ndarray, "*stack channel"],
    gain: Real[np.ndarray, " channel"],
    epsilon: float = 0.0,
    *,
    centred: bool = True,
) -> Float[np.ndarray, "*stack"]:
    """|gamma|_inf / sigma, at least the spectral norm of the Jacobian at each token; no SVD.

    A product of norms alone contracts where it is at most some rho < 1 everywhere: sufficient, and the
    paper's own condition is not public. (Emadi 2602.18849)
    """
    sigma = layer_norm_scale(x, epsilon, centred=centred)
    with np.errstate(divide="ignore"):
        return np.asarray(np.abs(np.asarray(gain, dtype=np.float64)).max() / sigma)


def steepest_layer_norm(
    x: Real[np.ndarray, "token channel"],
    gain: Real[np.ndarray, " channel"],
    epsilon: float = 0.0,
    *,
    centred: bool = True,
) -> float:
    """The largest spectral norm of the Jacobian over the tokens; an SVD only where its bound leaves it open.

    It is the norm of the whole map in |.|_{inf,rms}, since each token is normalized by itself. NaN where a
    token or a gain is not finite.
    """
    rows = np.asarray(x, dtype=np.float64)
    bounds = layer_norm_norm_bound(rows, gain, epsilon, centred=centred)
    if not np.isfinite(bounds).all() or not np.isfinite(rows).all():
        return float("nan")
    largest = 0.0
    for token in np.argsort(-bounds, kind="stable"):
        if bounds[token] <= largest:
            break
        jacobian = layer_norm_jacobian(rows[token], gain, epsilon, centred=centred)
        largest = max(largest, float(np.linalg.norm(jacobian, 2)))
    return largest
