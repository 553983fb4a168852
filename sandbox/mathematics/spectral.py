"""Spectral conditioning: the correction that is added to a projection so that it stretches more evenly."""

import math

import numpy as np
from jaxtyping import Float, Real

from sandbox.mathematics.condition import singular_values


def identity_correction(
    w: Real[np.ndarray, "*stack row column"], shift: float
) -> Float[np.ndarray, "*stack row column"]:
    """C = shift I_k, `shift` on the main diagonal of a matrix of w's shape; the correction, not w + C.

    The paper fixes shift = 10 before training. It can raise kappa: diag(-9.9, -1) goes from 9.9 to 90.
    (Saratchandran & Lucey 2603.07162, Thm 3.8)
    """
    correction = np.zeros(np.shape(w))
    diagonal = np.arange(min(correction.shape[-2:]))
    correction[..., diagonal, diagonal] = shift
    return correction


def svd_correction(w: Real[np.ndarray, "*stack row column"]) -> Float[np.ndarray, "*stack row column"]:
    """C = U (sigma_max I) V^T of the thin SVD w = U S V^T; the correction, not w + C.

    Every singular value grows by sigma_max, so kappa(w + C) = 2 kappa / (kappa + 1) <= 2.
    (Saratchandran & Lucey 2603.07162, Thm 3.5; the closed form is derived)
    """
    u, values, v = np.linalg.svd(np.asarray(w, dtype=np.float64), full_matrices=False)
    return values[..., :1, None] * (u @ v)


def sufficient_shift(w: Real[np.ndarray, "*stack row column"]) -> Float[np.ndarray, "*stack"]:
    """The shift above which w + shift I certainly has a smaller condition number than w.

    sigma_max (kappa + 1) / (kappa - 1), sufficient and not necessary; infinite where kappa is 1 already.
    (derived; the conditions of the paper's Thm 3.8 are not public)
    """
    values = singular_values(w)
    largest, smallest = values[..., 0], values[..., -1]
    spread = largest - smallest
    ratio = (largest + smallest) / np.where(spread > 0, spread, 1.0)
    return np.where(spread > 0, largest * ratio, np.inf)


def unsaturated_shift(d_head: int) -> float:
    """sqrt(2 / sqrt(d_head)): about the largest shift that leaves layer-normed inputs unsaturated.

    Self-logits are about shift^2 sqrt(d_head), so beyond it each token soon sees only itself. (derived)
    """
    return math.sqrt(2.0 / math.sqrt(d_head))
