"""Attention entropy: does a query look everywhere, or at one key?"""

import numpy as np
from jaxtyping import Float, Real

from sandbox.foundations.errors import InvalidData
from sandbox.mathematics.attention_rows import Mask, VisibleRows, visible_rows


def row_entropy(weights: Real[np.ndarray, "*rows key"], mask: Mask = None) -> Float[np.ndarray, "*rows"]:
    """H = -sum_k p_k ln p_k in nats, p the row's visible weights divided by their sum.

    Between 0 and ln(visible keys); `mask` is true where a key is visible. NaN for a row without a visible key
    or whose visible weights are all zero. Raises InvalidData, naming the row, for negative or non-finite
    visible weights. (Shannon 1948, Sec. 6)
    """
    return _entropy(visible_rows(weights, mask))


def normalized_entropy(
    weights: Real[np.ndarray, "*rows key"], mask: Mask = None
) -> Float[np.ndarray, "*rows"]:
    """H / ln(number of visible keys), between 0 (one key) and 1 (flat).

    NaN where fewer than two keys are visible, so that such rows can be left out of averages.
    """
    rows = visible_rows(weights, mask)
    n_visible = rows.visible.sum(axis=-1)
    largest = np.where(n_visible > 1, np.log(np.maximum(n_visible, 2)), np.nan)
    return np.asarray(np.minimum(_entropy(rows) / largest, 1.0))  # rounding alone could pass 1


def self_attention_mass(
    weights: Real[np.ndarray, "*maps query key"], mask: Mask = None
) -> Float[np.ndarray, "*maps"]:
    """Mean of P_nn over the queries n that may see themselves; near 1 means that attention is switched off.

    NaN where no query sees itself. Raises InvalidData where the map is not square.
    """
    rows = visible_rows(weights, mask)
    if rows.values.ndim < 2 or rows.values.shape[-1] != rows.values.shape[-2]:
        raise InvalidData(
            f"Self-attention mass needs square maps (query, key), but the shape is {rows.values.shape}; "
            "pass whole maps."
        )
    mass = np.trace(rows.values, axis1=-2, axis2=-1)
    n_queries = np.trace(rows.visible, axis1=-2, axis2=-1, dtype=np.int64)
    return np.where(n_queries > 0, mass / np.maximum(n_queries, 1), np.nan)


def _entropy(rows: VisibleRows) -> np.ndarray:
    peak = rows.values.max(axis=-1, keepdims=True, initial=0.0)
    scaled = rows.values / np.where(peak > 0, peak, 1.0)  # first by the peak, so that no sum overflows
    total = scaled.sum(axis=-1, keepdims=True)
    share = scaled / np.where(total > 0, total, 1.0)
    surprise = -np.log(np.where(share > 0, share, 1.0))
    entropy = (share * surprise).sum(axis=-1)
    return np.where(total[..., 0] > 0, np.maximum(entropy, 0.0), np.nan)
