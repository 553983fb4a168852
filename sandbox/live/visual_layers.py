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
"""The layer whose points at the run's first step give a layer's plane (planes.py)."""


class Looked(NamedTuple):
    """What the weights of several runs make of the probe."""

    points: dict[str, Float[np.ndarray, "run point d"]]
    """Points of every layer: tokens, positions, sequences and neurons."""
    rows: Float[np.ndarray, "run sequence position"]
    """Its attention, one row for each sequence."""


def look(numbers: Float[np.ndarray, "run number"], meta: dict[str, Any]) -> Looked:
    """All layers of some runs at one step; `meta` is that of their reading of small-model weights."""
    w, at = {}, 0
    for name, shape in zip(meta["names"], meta["shapes"], strict=True):
        size = math.prod(shape)
        w[name] = numbers[:, at : at + size].reshape(-1, *shape)
        at += size
    sums = w["tokens"][:, :, None] + w["positions"][:, None]  # run token position d
    z = normalized(sums)
    values = z @ _turned(w["w_value.weight"])[:, None]
    scores = np.einsum("rtpd,rd->rtp", z, w["query"]) / math.sqrt(z.shape[-1])
    tokens = np.asarray(meta["tokens"])
    place = np.arange(tokens.shape[1])
    row = scores[:, tokens, place]
    rows = np.exp(row - row.max(axis=-1, keepdims=True))
    rows /= rows.sum(axis=-1, keepdims=True)
    xi = np.einsum("rsp,rspd->rsd", rows, values[:, tokens, place])
    inner = normalized(xi) @ _turned(w["up.weight"]) + w["up.bias"][:, None]
    ffn = _gelu(inner) @ _turned(w["down.weight"]) + w["down.bias"][:, None]
    points = {
        "E": w["tokens"], "P": w["positions"], "E+P": sums, "z": z, "values": values, "xi": xi,
        "nxi": normalized(xi), "receptors": w["up.weight"], "assemblers": _turned(w["down.weight"]),
        "ffn": ffn, "h": xi + ffn,
    }  # fmt: skip
    return Looked({name: p.reshape(len(p), -1, p.shape[-1]) for name, p in points.items()}, rows)


def normalized(x: Float[np.ndarray, "*point d"]) -> Float[np.ndarray, "*point d"]:
    """x by its root mean square."""
    return np.asarray(x / (np.sqrt((x**2).mean(axis=-1, keepdims=True)) + RMS_EPSILON))


def _turned(weight: np.ndarray) -> np.ndarray:
    """Weights of a linear layer (run, out, in) as the matrix that a row is multiplied with."""
    return weight.swapaxes(-1, -2)


def _gelu(x: np.ndarray) -> np.ndarray:
    """x Phi(x), with Abramowitz and Stegun 7.1.26 for Phi: off by at most 1.5e-7."""
    t = 1 / (1 + 0.3275911 * np.abs(x) / math.sqrt(2))
    y = 1 - np.polyval([1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592, 0.0], t) * np.exp(
        -(x**2) / 2
    )
    return x * (1 + np.sign(x) * y) / 2
