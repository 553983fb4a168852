"""theta by the compiled kernels of native/theta.cpp: what NumPy says, to the bit."""

import ctypes

import numpy as np
from jaxtyping import Bool, Float, Int

from sandbox.foundations.kernels import found_build, kernels

CHUNK_WEIGHTS = 2**14
"""Weights of one call, some ten milliseconds where every row is searched: Python may then answer signals."""

LONG = 128
"""Keys from which on NumPy sorts faster than the kernels do."""


def is_compiled() -> bool:
    """Whether the kernels are built for this machine; NumPy does it all where they are not."""
    return bool(found_build()[0])


def compiled_bracket(
    weights: Float[np.ndarray, "row key"], gap: float, exact_to: int
) -> tuple[Float[np.ndarray, " row"], Float[np.ndarray, " row"], Bool[np.ndarray, " row"]]:
    """`lower`, `upper` and `exact` of rows of finite weights, as `theta_bracket` has them."""
    n_rows = len(weights)
    lower, upper, exact = np.empty(n_rows), np.empty(n_rows), np.empty(n_rows, dtype=np.bool_)
    for some in _pieces(weights):
        _call(
            "bracket",
            _sorted(weights[some]),
            ctypes.c_double(gap),
            ctypes.c_int64(exact_to),
            *(ctypes.c_void_p(out[some].ctypes.data) for out in (lower, upper, exact)),
        )
    return lower, upper, exact


def compiled_certificates(
    weights: Float[np.ndarray, "row key"], n_bounds: int
) -> Float[np.ndarray, "bound row"]:
    """Lower bounds in the order of `CERTIFICATE_NAMES`, as `theta_certificates` has them."""
    bounds = np.empty((n_bounds, len(weights)))
    for some in _pieces(weights):
        part = np.empty((n_bounds, some.stop - some.start))
        _call("certificates", _sorted(weights[some]), ctypes.c_void_p(part.ctypes.data))
        bounds[:, some] = part
    return bounds


def compiled_difference(units: Int[np.ndarray, "row key"]) -> Int[np.ndarray, " row"]:
    """min over all subsets S of |sum(S) - sum(rest)|, as `smallest_difference` has it."""
    best = np.empty(len(units), dtype=np.int64)
    _call("smallest_difference", units, ctypes.c_void_p(best.ctypes.data))
    return best


def _sorted(weights: np.ndarray) -> np.ndarray:
    """Rows that the kernels need not sort, where that takes them long: the order of keys means nothing."""
    return np.sort(weights, axis=1) if weights.shape[1] > LONG else weights


def _pieces(weights: np.ndarray) -> list[slice]:
    n_rows, n_keys = weights.shape
    step = max(1, CHUNK_WEIGHTS // max(1, n_keys))
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def _call(what: str, rows: np.ndarray, *others: object) -> None:
    rows = np.ascontiguousarray(rows)
    given = (ctypes.c_void_p(rows.ctypes.data), *map(ctypes.c_int64, rows.shape), *others)
    if getattr(kernels(), f"sandbox_theta_{what}")(*given):
        raise MemoryError
