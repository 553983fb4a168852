"""Visual layers: where the points of the visual model's pictures stand, worked out from its weights."""

import math
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

RMS_EPSILON = 1e-5
"""Added to the root mean square, as in sandbox/models/visual_model.py."""
SPACE = {
    "E": "E+P", "P": "E+P", "E+P": "E+P", "z": "z", "values": "values", "xi": "xi", "nxi": "nxi",
    "receptors": "nxi", "assemblers": "h", "ffn": "h", "h": "h",
}  # fmt: skip
"""The layer whose first points give a layer's plane; assets/live/pictures.js draws in the same ones."""


class Looked(NamedTuple):
    """What one run's weights make of the probe."""

    points: dict[str, Float[np.ndarray, "point d"]]
    """Points of every layer: tokens, positions, sequences and neurons."""
    rows: Float[np.ndarray, "sequence position"]
    """Its attention, one row for each sequence."""


def look(numbers: Float[np.ndarray, " number"], meta: dict[str, Any]) -> Looked:
    """All layers of one run at one step; `meta` is that of its reading of small-model weights."""
    w, at = {}, 0
    for name, shape in zip(meta["names"], meta["shapes"], strict=True):
        size = math.prod(shape)
        w[name] = numbers[at : at + size].reshape(shape)
        at += size
    sums = w["tokens"][:, None] + w["positions"]  # token position d
    z = normalized(sums)
    values, scores = z @ w["w_value.weight"].T, z @ w["query"] / math.sqrt(z.shape[-1])
    tokens = np.asarray(meta["tokens"])
    place = np.arange(tokens.shape[1])
    row = scores[tokens, place]
    rows = np.exp(row - row.max(axis=1, keepdims=True))
    rows /= rows.sum(axis=1, keepdims=True)
    xi = np.einsum("st,std->sd", rows, values[tokens, place])
    ffn = _gelu(normalized(xi) @ w["up.weight"].T + w["up.bias"]) @ w["down.weight"].T + w["down.bias"]
    points = {
        "E": w["tokens"], "P": w["positions"], "E+P": sums, "z": z, "values": values, "xi": xi,
        "nxi": normalized(xi), "receptors": w["up.weight"], "assemblers": w["down.weight"].T, "ffn": ffn,
        "h": xi + ffn,
    }  # fmt: skip
    return Looked({name: p.reshape(-1, p.shape[-1]) for name, p in points.items()}, rows)


def normalized(x: Float[np.ndarray, "*point d"]) -> Float[np.ndarray, "*point d"]:
    """x by its root mean square."""
    return np.asarray(x / (np.sqrt((x**2).mean(axis=-1, keepdims=True)) + RMS_EPSILON))


def _gelu(x: np.ndarray) -> np.ndarray:
    """x Phi(x), with Abramowitz and Stegun 7.1.26 for Phi: off by at most 1.5e-7."""
    t = 1 / (1 + 0.3275911 * np.abs(x) / math.sqrt(2))
    y = 1 - np.polyval([1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592, 0.0], t) * np.exp(
        -(x**2) / 2
    )
    return x * (1 + np.sign(x) * y) / 2
