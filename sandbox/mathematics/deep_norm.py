"""DeepNorm's numbers: the gains that keep the update of a deep post-normalized model from growing with it."""

import numpy as np
from jaxtyping import Float, Real


def xavier_gain(weight: Real[np.ndarray, "*stack out in"]) -> Float[np.ndarray, "*stack"]:
    """Root mean square of the entries over that of Xavier's start, sqrt(2 / (in + out)).

    1 at a Xavier start; beta = (8 N)^(-1/4) at DeepNorm's, for W_V, W_O and the feed-forward part. (Glorot &
    Bengio 2010; Wang et al. 2203.00555, Figure 2)
    """
    entries = np.asarray(weight, dtype=np.float64)
    rms = np.sqrt((entries**2).mean(axis=(-2, -1)))
    return np.asarray(rms / np.sqrt(2.0 / (entries.shape[-1] + entries.shape[-2])))


def update_budget(
    first_gain: Real[np.ndarray, "*stack"],
    second_gain: Real[np.ndarray, "*stack"],
    alpha: float,
    n_layers: int,
) -> Float[np.ndarray, "*stack"]:
    """2 N (v^2 + w^2) / alpha^2 of a sublayer with gains v and w, in a model of N layers of two sublayers.

    Its mean over the sublayers bounds, up to a constant, how far one update can move the output: 1 with
    DeepNorm's alpha = (2 N)^(1/4) and v = w = (8 N)^(-1/4), 4 N for post-LN at a Xavier start. (Wang et al.
    2203.00555 gives alpha and beta; that they set this sum to 1 is checked here, its form is our reading)
    """
    v, w = (np.asarray(gain, dtype=np.float64) for gain in (first_gain, second_gain))
    return np.asarray(2 * n_layers * (v**2 + w**2) / alpha**2)
