"""DeepNorm's two numbers: how loud the residual stream is, and how quietly the sublayers start."""

from typing import NamedTuple


class DeepNorm(NamedTuple):
    """The constants of an encoder of some number of layers."""

    alpha: float
    """x <- LN(alpha x + f(x))."""
    gain: float
    """Xavier gain of the feed-forward part, W_V and W_O; W_Q and W_K keep 1."""


def deepnorm(n_layers: int) -> DeepNorm:
    """alpha = (2 N)^(1/4) and gain = (8 N)^(-1/4) of an encoder with N layers (2203.00555, Figure 2)."""
    return DeepNorm(float((2 * n_layers) ** 0.25), float((8 * n_layers) ** -0.25))
