"""The norm of the residual stream that counts the longest token, and operators measured in it."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Real

Map = Callable[[np.ndarray], np.ndarray]


def block_norm(x: Real[np.ndarray, "*stack token channel"]) -> Float[np.ndarray, "*stack"]:
    """|X|_{inf,rms} = max_i |x_i|_2 / sqrt(d): the root mean square of the longest token.

    Row-stochastic mixing has operator norm 1 in it. (Emadi 2602.18849)
    """
    rows = np.asarray(x, dtype=np.float64)
    return np.asarray(np.linalg.norm(rows, axis=-1).max(axis=-1) / np.sqrt(rows.shape[-1]))


def operator_norm_at_least(
    forward: Map, backward: Map, start: Float[np.ndarray, "start token channel"], n_iterations: int
) -> float:
    """A lower estimate of |T| in the norm max_i |x_i|_2, the same for input and output, by power iteration.

    `forward` applies T and `backward` its transpose to stacks (start, token, channel). Each iterate is a
    witness, so the result never exceeds |T|; a step never loses. (Boyd 1974 for mixed norms; this pair of
    norms is derived: the best input for output token i and direction v is the transpose's, each token
    scaled to length one)
    """
    inputs = _unit_tokens(start)
    best = 0.0
    for _ in range(n_iterations):
        outputs = forward(inputs)
        lengths = np.linalg.norm(outputs, axis=-1)
        best = max(best, float(lengths.max())) if np.isfinite(lengths).all() else float("nan")
        if not np.isfinite(best):
            return best
        longest = lengths.argmax(axis=1)
        direction = np.zeros_like(outputs)
        rows = np.arange(len(outputs))
        direction[rows, longest] = outputs[rows, longest]
        inputs = _unit_tokens(backward(direction))
    return max(best, float(np.linalg.norm(forward(inputs), axis=-1).max()))


def multi_head_bound(
    output_norm: Float[np.ndarray, "*stack"],
    value_norms: Float[np.ndarray, "*stack head"],
    query_norms: Float[np.ndarray, "*stack head"],
    key_norms: Float[np.ndarray, "*stack head"],
    largest_theta: Float[np.ndarray, "*stack head"],
    scale: Float[np.ndarray, "*stack head"],
    radius: Float[np.ndarray, "*stack"],
    width: int,
) -> Float[np.ndarray, "*stack"]:
    """|W_O| sum_h (|W_V^h| + theta_h scale Phi_h), Phi_h = 2 d R^2 |W_Q^h| |W_K^h| |W_V^h|; spectral norms.

    Bounds the attention layer's derivative in |.|_{inf,rms} where |X|_{inf,rms} <= R = `radius`; d is the
    model's width and `scale` is 1/tau. (Emadi 2602.18849; Phi_h is not public and derived here)
    """
    phi = 2 * width * (radius**2)[..., None] * query_norms * key_norms * value_norms
    return np.asarray(output_norm * (value_norms + largest_theta * scale * phi).sum(axis=-1))


def _unit_tokens(x: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(x, axis=-1, keepdims=True)
    return x / np.where(lengths > 0, lengths, 1.0)
