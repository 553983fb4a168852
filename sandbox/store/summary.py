"""The table under the curves: what each arm reached, how fast, and how it differs from the standard one."""

import math
from dataclasses import dataclass

import numpy as np

from sandbox.mathematics.statistics import PairedDifference, finite_median, paired_difference
from sandbox.store.forks import begun_at
from sandbox.store.run_reader import Run

TARGET = 0.98
"""Held-out accuracy that counts as solved unless the caller names another."""


@dataclass(frozen=True, kw_only=True)
class ArmSummary:
    """One arm over its seeds; numbers that do not exist yet are None."""

    arm: str
    n: int
    target: float
    reached: int
    """Seeds whose held-out accuracy reached `target` at an evaluation."""
    median_step: float | None
    """Median over those seeds of the first evaluation step at the target, with its range beside it."""
    first_step: int | None
    last_step: int | None
    final_step: int | None
    """Step of the evaluation behind the final accuracies."""
    final_accuracy: float | None
    """Mean held-out accuracy there over the seeds that did not diverge."""
    reference: str
    """The arm that `difference` is taken from."""
    difference: PairedDifference | None
    """Final held-out accuracy less that of the same seed of `reference`; None for the reference itself."""
    seconds_per_step: float | None
    """Training seconds of the arm per step, all its seeds together."""
    diverged: int
    """Seeds with a loss that is NaN or infinite; they are left out of accuracies and differences."""
    begun: int = 0
    """The step at which the run begins: of what a fork has there its parent may have had it earlier."""


def summarize(run: Run, target: float = TARGET) -> list[ArmSummary]:
    """One line per arm, in their order; the reference is the arm `standard`, else the first."""
    reference = "standard" if "standard" in run.arms else run.arms[0]
    curves = {arm: _accuracies(run, arm) for arm in run.arms}
    diverged = {arm: _diverged(run, arm) for arm in run.arms}
    status = run.status
    return [
        _summary(run, arm, target, reference, curves, diverged, _seconds_per_step(run, status, arm))
        for arm in run.arms
    ]


def _summary(
    run: Run,
    arm: str,
    target: float,
    reference: str,
    curves: dict[str, tuple[np.ndarray, np.ndarray]],
    diverged: dict[str, np.ndarray],
    seconds_per_step: float | None,
) -> ArmSummary:
    steps, accuracies = curves[arm]
    first = np.array([_first(steps, column >= target) for column in accuracies.T])
    middle = finite_median(first)
    reached = middle.n_finite > 0
    final = (
        np.where(diverged[arm], math.nan, accuracies[-1]) if len(steps) else np.full(len(run.seeds), math.nan)
    )
    return ArmSummary(
        arm=arm,
        n=len(run.seeds),
        target=target,
        reached=middle.n_finite,
        median_step=middle.middle if reached else None,
        first_step=int(middle.low) if reached else None,
        last_step=int(middle.high) if reached else None,
        final_step=int(steps[-1]) if len(steps) else None,
        final_accuracy=float(np.nanmean(final)) if np.isfinite(final).any() else None,
        reference=reference,
        difference=None if arm == reference else _difference(arm, reference, curves, diverged),
        seconds_per_step=seconds_per_step,
        diverged=int(diverged[arm].sum()),
        begun=begun_at(run.experiment),
    )


def _difference(
    arm: str,
    reference: str,
    curves: dict[str, tuple[np.ndarray, np.ndarray]],
    diverged: dict[str, np.ndarray],
) -> PairedDifference | None:
    """The paired difference at the last step at which both arms were evaluated."""
    shared = np.intersect1d(curves[arm][0], curves[reference][0])
    if not len(shared):
        return None
    sides = [
        np.where(diverged[side], math.nan, curves[side][1][np.searchsorted(curves[side][0], shared[-1])])
        for side in (arm, reference)
    ]
    return paired_difference(sides[0], sides[1])


def _accuracies(run: Run, arm: str) -> tuple[np.ndarray, np.ndarray]:
    return run.group_curve("test_accuracy", arm)


def _diverged(run: Run, arm: str) -> np.ndarray:
    """(seed,) True where a loss is not finite: at an evaluation, or in a batch since the last one.

    Weights that are NaN stay so; the batches before an evaluation need not be read again.
    """
    steps, losses = run.group_curve("test_loss", arm)
    _, recent = run.group_curve("loss", arm, since=int(steps[-1]) if len(steps) else -1)
    return ~np.isfinite(np.concatenate([losses, recent])).all(axis=0)


def _first(steps: np.ndarray, at: np.ndarray) -> float:
    """The first step where `at` holds; infinite where it never does."""
    return float(steps[at.argmax()]) if at.any() else math.inf


def _seconds_per_step(run: Run, status: dict[str, object], arm: str) -> float | None:
    """From the arm's own clock over the run's own steps; one arm alone may use the run's clock."""
    step, seconds, per_arm = status.get("step"), status.get("seconds"), status.get("arm_seconds")
    own = step - begun_at(run.experiment) if isinstance(step, int) else 0
    if own < 1:
        return None
    if isinstance(per_arm, dict) and arm in per_arm:
        return float(per_arm[arm]) / own
    return seconds / own if isinstance(seconds, int | float) and len(run.arms) == 1 else None
