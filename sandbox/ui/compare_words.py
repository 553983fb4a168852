"""The sentence of a comparison: counts and intervals, and no verdict where the intervals allow none."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sandbox.mathematics.statistics import PairedDifference, paired_difference
from sandbox.store.compared import Axis
from sandbox.ui.named import metric_title, within
from sandbox.ui.words import count, duration, percent, points, whole

NO_VERDICT, IDENTICAL = "no difference shown", "identical"


@dataclass(frozen=True, kw_only=True)
class Standing:
    """One group at the place that is looked at."""

    label: str
    values: tuple[float, ...]
    """One per seed; NaN where a seed has none."""
    place: float = math.nan
    """Where these values were recorded: the last place of the group up to the one that is looked at."""
    difference: PairedDifference | None = None
    """Less the reference; None for the reference itself."""
    paired_at: float = math.nan
    """The last place up to the one looked at where both were recorded; NaN where there is none."""
    bootstrap: tuple[float, float] | None = None
    """The 95 % bootstrap interval of that difference; None where none was made."""
    identical: bool = False
    """Whether every value that both have recorded is the reference's, bit for bit."""

    @property
    def finite(self) -> np.ndarray:
        """The values that are numbers."""
        values = np.array(self.values, dtype=np.float64)
        return values[np.isfinite(values)]


def of_pairs(differences: np.ndarray) -> PairedDifference:
    """The mean of differences over pairs (pair,), with its Student interval; NaN ones are left out."""
    return paired_difference(differences, np.zeros(len(differences)))


def is_share(metric: str) -> bool:
    """Whether the metric lies between 0 and 1 and is written in percent."""
    return "accuracy" in metric.partition("/")[0]


def number(metric: str, value: float) -> str:
    """A value of the metric."""
    if math.isnan(value):
        return "none"
    return percent(value, column=True) if is_share(metric) else f"{value:.4g}"


def gap(metric: str, value: float) -> str:
    """A signed difference of the metric, without its unit."""
    if is_share(metric):
        return points(value)
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{abs(value):.3g}"


def place(axis: Axis, at: float) -> str:
    """The place that is looked at, in words."""
    if math.isnan(at):
        return "Nowhere"
    if axis == "seconds":
        return f"After {duration(at)} of training"
    if axis == "examples":
        return f"After {whole(at)} training examples"
    return f"At {whole(at)} steps from the event" if axis == "event" else f"At step {whole(at)}"


def verdict(found: PairedDifference, bootstrap: tuple[float, float] | None) -> str:
    """`higher` or `lower` only where both intervals lie on one side of zero."""
    if found.low is None or found.high is None:
        return "too few to say"
    low, high = [found.low], [found.high]
    if bootstrap is not None and not any(map(math.isnan, bootstrap)):
        low.append(bootstrap[0])
        high.append(bootstrap[1])
    if min(low) > 0:
        return "higher"
    return "lower" if max(high) < 0 else NO_VERDICT


def disagreement(found: PairedDifference, bootstrap: tuple[float, float] | None) -> str:
    """What to add where one of the two intervals alone is clear of zero; empty where they agree."""
    if found.low is None or found.high is None or bootstrap is None or any(map(math.isnan, bootstrap)):
        return ""
    student, resampled = (low > 0 or high < 0 for low, high in ((found.low, found.high), bootstrap))
    if student == resampled:
        return ""
    alone = "Student" if student else "bootstrap"
    return f", since only the {alone} interval is clear of zero and both must agree"


def paired(
    metric: str,
    found: PairedDifference,
    bootstrap: tuple[float, float] | None,
    identical: bool = False,
) -> str:
    """A paired difference with its intervals, how many pairs there are, and what may be said of it."""
    unit = " points" if is_share(metric) else ""
    pairs = count(found.n, "pair")
    left = f", {found.n_left_out} left out" if found.n_left_out else ""
    if not found.n:
        return f"no pair of seeds{left}"
    if identical:
        return f"{IDENTICAL}, value for value, in {pairs}{left}"
    if found.low is None or found.high is None:
        return f"{gap(metric, found.mean)}{unit} in {pairs}{left}: too few to say"
    resampled = ""
    if bootstrap is not None and not any(map(math.isnan, bootstrap)):
        resampled = f"bootstrap {gap(metric, bootstrap[0])} to {gap(metric, bootstrap[1])}, "
    student = f"Student {gap(metric, found.low)} to {gap(metric, found.high)}"
    inside = f"95 %: {resampled}{student}; {pairs}{left}"
    last = verdict(found, bootstrap) + disagreement(found, bootstrap)
    return f"{gap(metric, found.mean)}{unit} ({inside}): {last}"


def sentences(
    metric: str, axis: Axis, at: float, standings: Sequence[Standing], reference: str, unfair: bool
) -> list[str]:
    """What the groups show at one place: the mean and n of each, then one sentence per paired difference."""
    title = within(metric_title(metric))
    if math.isnan(at) or not standings:
        return [f"No place is reached by every group with a value of {title}, so nothing is compared."]
    means = "; ".join(_mean(metric, axis, at, standing) for standing in standings)
    latest = "last values up to then, " if axis == "seconds" else ""
    said = [f"{place(axis, at)}, {title}, {latest}mean over seeds: {means}."]
    said += [_paired(metric, axis, at, standing, reference) for standing in standings if standing.difference]
    if len(said) > 1 and unfair:
        said.append("More than the arms differs here, so that no difference is an arm's alone.")
    return said


def _mean(metric: str, axis: Axis, at: float, standing: Standing) -> str:
    finite, n = standing.finite, len(standing.values)
    if not len(finite):
        return f"{standing.label} none (0 of {n})"
    of = f"n = {len(finite)}" if len(finite) == n else f"n = {len(finite)} of {n}"
    earlier = axis != "seconds" and standing.place < at
    since = f", recorded {within(place(axis, standing.place))}" if earlier else ""
    return f"{standing.label} {number(metric, float(finite.mean()))} ({of}{since})"


def _paired(metric: str, axis: Axis, at: float, standing: Standing, reference: str) -> str:
    """The paired difference, taken where both were recorded; why there is none where they never were."""
    assert standing.difference is not None
    who = f"{standing.label} less {reference}"
    if math.isnan(standing.paired_at):
        why = (
            "arms differ in their pace, so that no two are recorded at the same second; align by steps"
            if axis == "seconds"
            else "up to here there is no place where both were recorded"
        )
        return f"{who}: nothing is paired, since {why}."
    where = (
        f" {within(place(axis, standing.paired_at))}, the last that both have"
        if standing.paired_at < at
        else ""
    )
    words = paired(metric, standing.difference, standing.bootstrap, standing.identical)
    return f"{who}, seed by seed{where}: {words}."
