"""Group band: what stands for all seeds at each step, a middle between two ends, and how many seeds."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float64, Int64, Real

from sandbox.mathematics.statistics import mean_band

BandKind = Literal["range", "interval", "deviation", "quartiles"]
BANDS: dict[BandKind, str] = {
    "range": "least to greatest",
    "interval": "95 % CI",
    "deviation": "± standard deviation",
    "quartiles": "25 to 75 %",
}
"""Every kind with its words in a legend or the head of a table."""
LOG_BANDS: tuple[BandKind, ...] = ("range", "quartiles")
"""Kinds that a log axis can have: the others are of a mean, and become the range."""


@dataclass(frozen=True, eq=False)
class GroupBand:
    """A middle between two ends at each step; NaN where there is none, `n` is how many values are behind."""

    words: str
    """What it is, with a place {n} for the number of seeds."""
    middle: Float64[np.ndarray, " step"]
    low: Float64[np.ndarray, " step"]
    high: Float64[np.ndarray, " step"]
    n: Int64[np.ndarray, " step"]


def group_band(
    values: Real[np.ndarray, "step seed"], kind: BandKind = "range", log: bool = False
) -> GroupBand:
    """The band `kind` over the seeds at each step.

    The mean with its range, Student interval or sample deviation; the median with its quartiles (linear
    between ranks). With `log` the median with its range or quartiles, since quantities such as condition
    numbers have no stable mean. What is not finite is left out, save for infinite values with `log`, which
    have their rank.
    """
    values = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(values) & (values != -np.inf) if log else np.isfinite(values)
    n = known.sum(axis=1).astype(np.int64)
    ordered = np.sort(np.where(known, values, np.nan), axis=1)  # NaN goes last
    if kind == "quartiles":
        low, centre, high = (_quantile(ordered, n, share) for share in (0.25, 0.5, 0.75))
        return GroupBand(f"median of {{n}}, {BANDS[kind]}", centre, low, high, n)
    if log:
        low, centre, high = (_quantile(ordered, n, share) for share in (0.0, 0.5, 1.0))
        return GroupBand(f"median of {{n}}, {BANDS['range']}", centre, low, high, n)
    if kind == "interval":
        found = mean_band(np.where(known, values, np.nan).T)
        return GroupBand(f"mean of {{n}}, {BANDS[kind]}", found.mean, found.low, found.high, n)
    kept = np.where(known, values, 0.0)
    mean = np.where(n > 0, kept.sum(axis=1) / np.maximum(n, 1), np.nan)
    if kind == "deviation":
        squares = np.where(known, (kept - mean[:, None]) ** 2, 0.0).sum(axis=1)
        reach = np.where(n > 1, np.sqrt(squares / np.maximum(n - 1, 1)), np.nan)
        return GroupBand(f"mean {BANDS[kind]} of {{n}}", mean, mean - reach, mean + reach, n)
    low, high = (_quantile(ordered, n, share) for share in (0.0, 1.0))
    return GroupBand(f"mean of {{n}}, {BANDS['range']}", mean, low, high, n)


def _quantile(ordered: np.ndarray, n: np.ndarray, share: float) -> np.ndarray:
    """The quantile of each row's first `n` values, linear between ranks; exact for infinite values too."""
    place = share * np.maximum(n - 1, 0)
    left = np.floor(place).astype(np.int64)
    right = np.minimum(left + 1, np.maximum(n - 1, 0))
    rows, part = np.arange(len(ordered)), place - left
    low, high = ordered[rows, left], ordered[rows, right]
    with np.errstate(invalid="ignore"):  # between two infinite values there is the infinite one
        between = low + part * (high - low)
    return np.where((part == 0) | (low == high), low, between)
