"""Certificates of the attention Jacobian: the two proved bounds, each beside the measured kappa."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.diagnostics.jacobians import BOUNDS, MOST_OUTPUTS, measured_jacobians
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.certificate import DOES_NOT_APPLY, HOLDS, NOT_COMPUTED, VIOLATED, Certificate
from sandbox.foundations.knobs import knob
from sandbox.foundations.readings import Answer, Provenance

REASONS = (
    "a sequence has more tokens than the model has channels (N > D), so P X cannot have full row rank",
    "P X has lost row rank at the stated tolerance",
    "weights or activations are not finite",
    f"a head of more than {MOST_OUTPUTS} outputs, beyond which J is not formed, has no measured kappa(J)",
)
TOO_LONG, RANK_LOST, NOT_FINITE, TOO_LARGE = range(len(REASONS))
ROUNDING = 1e-6  # relative; kappa by J J^T is good to about this
STATEMENTS = (
    r"kappa(J) <= sqrt((s/2 |X|^3 |W_V|)^2 (|W_Q|^2 + |W_K|^2) + |PX|^2) / sigma_min(PX), where N <= D and "
    "P X has full row rank (derived)",
    r"kappa(J) <= sqrt(s^2 |X|^2 max|M_n|^2 + s^2 |Q|^2 max|U_n|^2 + |PX|^2) / sigma_min(PX), where N <= D "
    "and P X has full row rank (derived)",
)


@Diagnostic.variants.register("jacobian certificates")
@dataclass(frozen=True, kw_only=True)
class JacobianCertificates(Diagnostic):
    """Both provable bounds of kappa(J), with their states, on the same samples as the measured value."""

    title: ClassVar[str] = "Certificates of the attention Jacobian"
    sentence: ClassVar[str] = (
        "A proved ceiling of kappa(J) beside its measured value; where the assumption fails nothing is "
        "claimed, and the reason stands there."
    )
    equation: ClassVar[str] = r"\kappa(J) \leq b\ \text{where}\ N \leq D,\ \mathrm{rank}(PX) = N"
    unit: ClassVar[str] = "kappa"
    source: ClassVar[str] = "derived for the Jacobian of Saratchandran & Lucey, arXiv 2603.07162, Thm 3.4"
    certainty: ClassVar[str] = "C: derived here, verified numerically; the paper's Eq. 10 is no certificate"
    our_reading: ClassVar[str] = (
        "A head's certificate is violated if it is on any sample, holds if it does wherever it applies; "
        "bound and measured value are medians over the samples to which it applies."
    )
    cost: ClassVar[str] = "costly"
    usual_ms: ClassVar[float] = 26

    sequences: int = knob(
        4, "Sequences", low=1, high=64, step=1, help="How many probe sequences J is formed on.", expert=True
    )

    def read(self, view: SnapshotView) -> Answer:
        """A Certificate with "norm bound" and "row bound" for every run, layer and head."""
        found = measured_jacobians(view, self.sequences)
        if isinstance(found, NotApplicable):
            return found
        n_runs, n_layers, n_heads, n_samples = found.shape
        shape = (n_runs, len(BOUNDS), n_layers, n_heads, n_samples)
        bound, kappa = np.full(shape, np.inf), np.full(shape, np.nan)
        long = np.zeros(shape, dtype=np.bool_)
        for member in found.members:
            run, layer, place, sample = member.place
            cell = (run, slice(None), layer, place, sample)
            bound[cell] = member.bounds
            kappa[cell] = np.nan if member.condition is None else member.condition.kappa
            long[cell] = member.more_tokens_than_channels
        broken = np.broadcast_to(found.broken[:, None], shape[:-1])
        return _conclude(bound, kappa, long, broken, self.provenance(view))

    def provenance(self, view: SnapshotView) -> Provenance:
        """How bounds and measured values came about."""
        n_all = len(view.probe.tokens)
        n_read = min(self.sequences, n_all)
        return Provenance(
            precision="float64, of weights trained in float32",
            method="bound and kappa(J) from the same matrices, tokens and precision",
            tolerance=ROUNDING,
            sample_size=n_read,
            exactness="exact" if n_read == n_all else "sampled",
            note=f"{n_read} of {n_all} probe sequences; the tolerance is relative",
        )


def _conclude(
    bound: np.ndarray, kappa: np.ndarray, long: np.ndarray, broken: np.ndarray, provenance: Provenance
) -> Certificate:
    """States from per-sample bounds (run, certificate, layer, head, sample); infinite ones do not apply.

    A bound beside a kappa that is no number is not computed: there is nothing to hold it against.
    """
    applies = np.isfinite(bound)
    any_applies = applies.any(axis=-1)
    violated = (applies & (kappa > bound * (1 + ROUNDING))).any(axis=-1)
    unmeasured = (applies & np.isnan(kappa)).any(axis=-1)
    state = np.where(violated, VIOLATED, np.where(unmeasured, NOT_COMPUTED, HOLDS))
    state = np.where(any_applies, state, DOES_NOT_APPLY)
    reason = np.where(long.all(axis=-1), TOO_LONG, RANK_LOST)
    reason = np.where(broken, NOT_FINITE, reason)
    with_any = np.where(any_applies, np.where(state == NOT_COMPUTED, TOO_LARGE, -1), reason)
    return Certificate(
        names=tuple(BOUNDS),
        statements=STATEMENTS,
        bound=_median_where(applies, bound),
        measured=_median_where(applies, kappa),
        state=state.astype(np.int8),
        reason=with_any.astype(np.int8),
        reasons=REASONS,
        share=np.where(broken, np.nan, applies.mean(axis=-1)),
        unit="kappa",
        provenance=provenance,
    )


def _median_where(applies: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Median over the last axis of the values where the bound applies; NaN where it nowhere does."""
    ordered = np.sort(np.where(applies, values, np.inf), axis=-1)  # those that do not count stand last
    n = applies.sum(axis=-1)
    low, high = np.maximum(n - 1, 0) // 2, np.maximum(n, 1) // 2
    picked = [np.take_along_axis(ordered, place[..., None], axis=-1)[..., 0] for place in (low, high)]
    with np.errstate(invalid="ignore"):
        return np.where(n > 0, (picked[0] + picked[1]) / 2, np.nan)
