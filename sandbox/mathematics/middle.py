"""Middles of condition numbers over samples, where some may be infinite: median and geometric mean."""

import numpy as np
from jaxtyping import Float, Real


def median_of_condition(values: Real[np.ndarray, "*rest sample"]) -> Float[np.ndarray, "*rest"]:
    """Median over the last axis; infinite where half the samples are, NaN where one is no number.

    NaN too where there is no sample.
    """
    array = np.asarray(values, dtype=np.float64)
    if not array.shape[-1]:
        return np.full(array.shape[:-1], np.nan)
    return np.where(np.isnan(array).any(axis=-1), np.nan, np.median(array, axis=-1))


def geometric_mean_of_finite(values: Real[np.ndarray, "*rest sample"]) -> Float[np.ndarray, "*rest"]:
    """exp of the mean logarithm of the finite samples over the last axis; show the share of infinite ones.

    Infinite where all samples are infinite; NaN where one is no number or there is none. Condition numbers
    have no stable arithmetic mean. (methods of averaging are our reading: 2603.07162 does not state one)
    """
    array = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(array)
    n_finite = finite.sum(axis=-1)
    logs = np.log(np.where(finite, array, 1.0)).sum(axis=-1)
    mean = np.where(n_finite > 0, np.exp(logs / np.maximum(n_finite, 1)), np.inf)
    missing = np.isnan(array).any(axis=-1) | (array.shape[-1] == 0)
    return np.where(missing, np.nan, mean)
