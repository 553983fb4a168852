"""Layer normalization's Jacobian: how much it can stretch a token, and when a stack of it contracts."""

import numpy as np
from jaxtyping import Float, Real


def layer_norm_jacobian(
    x: Real[np.ndarray, "*stack channel"], gain: Real[np.ndarray, " channel"], epsilon: float = 0.0
) -> Float[np.ndarray, "*stack channel channel"]:
    """diag(gamma)/sigma (I - 11^T/d - x^ x^^T/d), sigma = sqrt(var + epsilon), x^ = (x - mean)/sigma.

    (Emadi 2602.18849; agrees with automatic differentiation)
    """
    rows = np.asarray(x, dtype=np.float64)
    d = rows.shape[-1]
    sigma = layer_norm_scale(rows, epsilon)
    unit = (rows - rows.mean(axis=-1, keepdims=True)) / sigma[..., None]
    inner = np.eye(d) - 1 / d - unit[..., :, None] * unit[..., None, :] / d
    return np.asarray(gain, dtype=np.float64)[:, None] * inner / sigma[..., None, None]


def layer_norm_scale(
    x: Real[np.ndarray, "*stack channel"], epsilon: float = 0.0
) -> Float[np.ndarray, "*stack"]:
    """sigma = sqrt(variance + epsilon) of each token."""
    return np.asarray(np.sqrt(np.asarray(x, dtype=np.float64).var(axis=-1) + epsilon))


def layer_norm_norm_bound(
    x: Real[np.ndarray, "*stack channel"], gain: Real[np.ndarray, " channel"], epsilon: float = 0.0
) -> Float[np.ndarray, "*stack"]:
    """|gamma|_inf / sigma, at least the spectral norm of the Jacobian at each token; no SVD.

    A product of layer norms alone contracts where it is at most some rho < 1 everywhere: sufficient, and the
    paper's own condition is not public. (Emadi 2602.18849)
    """
    sigma = layer_norm_scale(x, epsilon)
    with np.errstate(divide="ignore"):
        return np.asarray(np.abs(np.asarray(gain, dtype=np.float64)).max() / sigma)
