"""Preconditioned attention: every row of a head's output scaled to length one."""

import numpy as np
from jaxtyping import Float, Real

SMALLEST_LENGTH = 1e-8  # rows shorter than this are divided by it instead (the published code's eps)


def row_scale(
    head_output: Real[np.ndarray, "*stack row column"], smallest_length: float = SMALLEST_LENGTH
) -> Float[np.ndarray, "*stack row"]:
    """The diagonal of C: C_ii = 1 / max(|A_i|_2, smallest_length). (Saratchandran 2603.27153)"""
    lengths = np.linalg.norm(np.asarray(head_output, dtype=np.float64), axis=-1)
    return 1.0 / np.maximum(lengths, smallest_length)


def equilibrate_rows(
    a: Real[np.ndarray, "*stack row column"], smallest_length: float = SMALLEST_LENGTH
) -> Float[np.ndarray, "*stack row column"]:
    """C A with C = diag(1 / |A_i|_2): rows of length one, zero rows left at zero.

    It need not lower kappa: with more rows than columns it can raise it by up to the square root of the row
    count. (Saratchandran 2603.27153; the theorem behind it is not public)
    """
    rows = np.asarray(a, dtype=np.float64)
    return row_scale(rows, smallest_length)[..., None] * rows
