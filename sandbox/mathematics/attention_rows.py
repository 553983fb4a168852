"""Rows of attention: which keys count, and what makes a row unusable."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Real

from sandbox.foundations.errors import InvalidData

Mask = Bool[np.ndarray, "..."] | Real[np.ndarray, "..."] | None  # true where a key is visible; broadcast
REAL_KINDS = "biuf"  # booleans, integers and floats, in numpy's letters


class VisibleRows(NamedTuple):
    """Rows with zeros where a key is hidden, and the mask of keys that count."""

    values: Float[np.ndarray, "*rows key"]
    visible: Bool[np.ndarray, "*rows key"]


def visible_rows(weights: np.ndarray, mask: np.ndarray | None = None) -> VisibleRows:
    """Rows in float64 with hidden keys set to zero; `mask` is true where a key is visible and is broadcast.

    Whatever stands at a hidden key is ignored, so padding may hold anything. Takes what a file may hold:
    raises InvalidData for arrays without an axis of keys or of anything but real numbers, and, naming the
    row, where a visible weight is negative, NaN or infinite.
    """
    values = real_numbers(weights)
    if values.ndim == 0:
        raise InvalidData(
            f"Attention rows need an axis of keys, but {values} is a single number; pass an array."
        )
    visible = _broadcast_mask(mask, values.shape)
    values = np.where(visible, values, 0.0)
    acceptable = (values >= 0) & (values < np.inf)  # false for NaN too
    if not acceptable.all():
        first = int(np.flatnonzero(~acceptable)[0])
        row, key = divmod(first, values.shape[-1])
        raise InvalidData(
            f"Row {place_name(row, values.shape[:-1])} holds {values.ravel()[first]} at key {key}: "
            "weights must be finite and at least 0; pass attention after softmax, or mask that key."
        )
    return VisibleRows(values, visible)


def real_numbers(array: np.ndarray) -> Float[np.ndarray, "..."]:
    """The array in float64; raises InvalidData where it holds anything but real numbers."""
    array = np.asarray(array)
    if array.dtype.kind not in REAL_KINDS:
        raise InvalidData(f"An array of {array.dtype} holds no real numbers; save it as float32 or float64.")
    return array.astype(np.float64)


def _broadcast_mask(mask: np.ndarray | None, shape: tuple[int, ...]) -> np.ndarray:
    if mask is None:
        return np.ones(shape, dtype=np.bool_)
    mask = np.asarray(mask)
    try:
        return np.broadcast_to(mask.astype(np.bool_), shape)
    except ValueError:
        raise InvalidData(
            f"A mask of shape {mask.shape} does not fit rows of shape {shape}; "
            "give one that broadcasts to the rows, true where a key is visible."
        ) from None


def place_name(number: int, leading: tuple[int, ...]) -> str:
    """A row or matrix by its place in the leading axes: `3`, or `(0, 2)` where there are several axes."""
    place = tuple(int(i) for i in np.unravel_index(number, leading)) if leading else (0,)
    return str(place[0]) if len(place) == 1 else str(place)
