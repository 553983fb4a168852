"""Clustering: do sequences with the same prefix, up to its order, land on the same embedding?"""

import math

import numpy as np
from jaxtyping import Float, Int, Integer, Real

from sandbox.foundations.errors import InvalidData


def prefix_groups(
    tokens: Integer[np.ndarray, "sequence token"], n_terms: int
) -> Int[np.ndarray, " sequence"]:
    """Group number of each sequence: equal where the first `n_terms` tokens are the same multiset.

    Raises InvalidData where the prefix is empty or longer than the sequence.
    """
    tokens = np.asarray(tokens)
    if not 1 <= n_terms <= tokens.shape[1]:
        raise InvalidData(
            f"A prefix of {n_terms} tokens does not fit sequences of {tokens.shape[1]}; "
            f"choose 1 to {tokens.shape[1]}."
        )
    if len(tokens) == 0:
        return np.zeros(0, dtype=np.int64)
    _, group = np.unique(np.sort(tokens[:, :n_terms], axis=1), axis=0, return_inverse=True)
    return group.reshape(-1).astype(np.int64)


def n_prefix_groups(modulus: int, n_terms: int) -> int:
    """C(n_terms + modulus - 1, modulus - 1), the multisets of `n_terms` tokens: 6 for modulus 2, 5 terms.

    (Odonnat, Bouaziz & Cabannes 2410.24050)
    """
    return math.comb(n_terms + modulus - 1, modulus - 1)


def variance_within_groups(
    embeddings: Real[np.ndarray, "*runs sequence channel"], groups: Integer[np.ndarray, " label"]
) -> Float[np.ndarray, "*runs"]:
    """Share of the embeddings' variance left within groups, from 0 (clustered) to 1 (no clusters).

    within / total: squared distances to the mean of the own group over those to the mean of all. NaN where
    all embeddings are one point or one is not finite. Raises InvalidData where lengths differ. (our measure
    of the clustering of 2410.24050: a clean head has 0.0006, while one run with accuracy 1 has 0.79)
    """
    points = np.asarray(embeddings, dtype=np.float64)
    groups = np.asarray(groups)
    if points.shape[-2] != len(groups):
        raise InvalidData(
            f"{points.shape[-2]} embeddings do not fit {len(groups)} group numbers; "
            "give one number per embedding."
        )
    finite = np.asarray(np.isfinite(points).all(axis=(-2, -1)))
    points = np.where(finite[..., None, None], points, 0.0)
    points = points - points.mean(
        axis=-2, keepdims=True
    )  # centred first, so that a far cloud keeps its digits
    total = (points**2).sum(axis=(-2, -1))
    names, member = np.unique(groups, return_inverse=True)
    belongs = (member == np.arange(len(names))[:, None]).astype(np.float64)  # group sequence
    means = (belongs / belongs.sum(axis=1, keepdims=True)) @ points
    within = ((points - means[..., member, :]) ** 2).sum(axis=(-2, -1))
    return np.where(finite & (total > 0), within / np.where(total > 0, total, 1.0), np.nan)
