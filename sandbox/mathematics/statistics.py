"""What several seeds show together: middles, bands, and paired differences with their interval."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Real

from sandbox.foundations.errors import InvalidData

CONFIDENCE = 0.95
BISECTIONS = 200  # halvings of the bracket around a quantile: more than float64 can tell apart


@dataclass(frozen=True, kw_only=True)
class PairedDifference:
    """Mean of (arm - standard) over seeds both have, with its Student interval; no interval below two pairs.

    `n_left_out` counts the seeds that one side lacks, because it diverged or never reached its target.
    """

    n: int
    n_left_out: int
    mean: float
    low: float | None
    high: float | None
    confidence: float


@dataclass(frozen=True, kw_only=True)
class Band:
    """Mean over runs at each step with its Student interval; `low`, `high` are NaN below two runs."""

    mean: Float[np.ndarray, " step"]
    low: Float[np.ndarray, " step"]
    high: Float[np.ndarray, " step"]
    n: Int[np.ndarray, " step"]


@dataclass(frozen=True, kw_only=True)
class FiniteMiddle:
    """The middle of the finite values and their range, with how many were infinite or not a number.

    All three are infinite where every number was, and NaN where there was none.
    """

    middle: float
    low: float
    high: float
    n_finite: int
    n_infinite: int
    n_missing: int


def student_quantile(degrees: int, confidence: float = CONFIDENCE) -> float:
    """t such that a Student variable of `degrees` >= 1 lies within [-t, t] with probability `confidence`.

    By bisection on the finite sums of Abramowitz & Stegun 26.7.3 and 26.7.4. Raises InvalidData out of range.
    """
    if degrees < 1 or not 0.0 < confidence < 1.0:
        raise InvalidData(
            f"A Student quantile with {degrees} degrees of freedom at {confidence} does not exist; "
            "give at least 1 degree and a confidence between 0 and 1."
        )
    low, high = 0.0, 1.0
    while _student_within(high, degrees) < confidence:
        low, high = high, 2.0 * high
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if _student_within(middle, degrees) < confidence:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def paired_difference(
    arm: Real[np.ndarray, " seed"], standard: Real[np.ndarray, " seed"], confidence: float = CONFIDENCE
) -> PairedDifference:
    """Mean difference over the same seeds, mean +- t_{n-1} s / sqrt(n) with s the sample deviation.

    Seeds where either side is not finite are left out and counted. NaN mean where no pair is left. Raises
    InvalidData where the two do not hold the same number of seeds.
    """
    first, second = np.asarray(arm, dtype=np.float64), np.asarray(standard, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise InvalidData(
            f"Paired values of shapes {first.shape} and {second.shape} do not fit; "
            "give one value per shared seed."
        )
    both = np.isfinite(first) & np.isfinite(second)
    differences = first[both] - second[both]
    n = len(differences)
    mean = float(differences.mean()) if n else math.nan
    reach = _half_width(differences, confidence) if n >= 2 else None
    return PairedDifference(
        n=n,
        n_left_out=len(first) - n,
        mean=mean,
        low=None if reach is None else mean - reach,
        high=None if reach is None else mean + reach,
        confidence=confidence,
    )


def mean_band(values: Real[np.ndarray, "run step"], confidence: float = CONFIDENCE) -> Band:
    """Mean over runs at each step and mean +- t_{n-1} s / sqrt(n); leaves out values that are not finite."""
    values = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(values)
    n = finite.sum(axis=0)
    kept = np.where(finite, values, 0.0)
    mean = np.where(n > 0, kept.sum(axis=0) / np.maximum(n, 1), np.nan)
    squares = np.where(finite, (kept - mean) ** 2, 0.0).sum(axis=0)
    deviation = np.sqrt(squares / np.maximum(n - 1, 1))
    quantiles = {int(k): student_quantile(int(k) - 1, confidence) for k in np.unique(n) if k >= 2}
    reach = np.array([quantiles.get(int(k), np.nan) for k in n]) * deviation / np.sqrt(np.maximum(n, 1))
    return Band(mean=mean, low=mean - reach, high=mean + reach, n=n)


def finite_median(values: Real[np.ndarray, "..."]) -> FiniteMiddle:
    """Median of the finite values; infinite ones are counted beside it, never averaged in."""
    return _finite_middle(values, lambda finite: float(np.median(finite)))


def finite_geometric_mean(values: Real[np.ndarray, "..."]) -> FiniteMiddle:
    """exp of the mean logarithm of the finite values, the fair average of condition numbers.

    Raises InvalidData for values that are not positive.
    """
    array = np.asarray(values, dtype=np.float64)
    if (array <= 0).any():
        raise InvalidData(f"A geometric mean needs positive values, but {array[array <= 0][0]} was given.")
    return _finite_middle(array, lambda finite: float(np.exp(np.log(finite).mean())))


def _finite_middle(values: np.ndarray, middle_of: Callable[[np.ndarray], float]) -> FiniteMiddle:
    array = np.asarray(values, dtype=np.float64).reshape(-1)
    finite = array[np.isfinite(array)]
    n_infinite = int(np.isinf(array).sum())
    nothing = math.inf if n_infinite else math.nan
    return FiniteMiddle(
        middle=middle_of(finite) if len(finite) else nothing,
        low=float(finite.min()) if len(finite) else nothing,
        high=float(finite.max()) if len(finite) else nothing,
        n_finite=len(finite),
        n_infinite=n_infinite,
        n_missing=int(np.isnan(array).sum()),
    )


def _half_width(sample: np.ndarray, confidence: float) -> float:
    return student_quantile(len(sample) - 1, confidence) * float(sample.std(ddof=1)) / math.sqrt(len(sample))


def _student_within(t: float, degrees: int) -> float:
    angle = math.atan(t / math.sqrt(degrees))
    squared_cosine = math.cos(angle) ** 2
    if degrees % 2 == 0:
        term, total = 1.0, 1.0
        for k in range(1, degrees // 2):
            term *= squared_cosine * (2 * k - 1) / (2 * k)
            total += term
        return math.sin(angle) * total
    term = math.cos(angle)
    total = term if degrees > 1 else 0.0
    for k in range(1, (degrees - 1) // 2):
        term *= squared_cosine * (2 * k) / (2 * k + 1)
        total += term
    return 2.0 / math.pi * (angle + math.sin(angle) * total)
