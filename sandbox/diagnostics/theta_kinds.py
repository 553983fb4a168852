"""Certificates of theta(p) by kind: how close each quick lower bound comes to the bracketed value."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.diagnostics.rows import attention_rows
from sandbox.diagnostics.theta import bracketed_rows
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.knobs import knob
from sandbox.foundations.readings import Answer, PerHead, Provenance
from sandbox.mathematics.theta_certificates import theta_certificates

NAMES = {
    "dominant_atom": "4 p_max (1 - p_max)",
    "one_minus_square": "1 - p_max^2",
    "sorted_prefix": "sorted prefix",
    "longest_first": "LPT",
    "fill_below_half": "fill below one half",
    "karmarkar_karp": "Karmarkar-Karp",
}
QUANTILES = (0.1, 0.25, 0.75, 0.9)
NO_TEMPERATURE = "This model has no value matrix, from which the width of a head could be read."


@Diagnostic.variants.register("theta certificates")
@dataclass(frozen=True, kw_only=True)
class ThetaCertificates(Diagnostic):
    """Medians of theta's bracket, of each kind of certificate and of what they miss; theta / tau."""

    title: ClassVar[str] = "Certificates of theta(p)"
    sentence: ClassVar[str] = (
        "Every kind of certificate is a sound lower bound of theta; the closer its median to the bracket, "
        "the less it misses."
    )
    equation: ClassVar[str] = r"c(p) \leq \theta(p),\quad \|J_{\mathrm{softmax}(u/\tau)}\| = \theta(p)/\tau"
    unit: ClassVar[str] = "theta"
    source: ClassVar[str] = "Emadi, arXiv 2602.18849; LPT: Graham 1969; Karmarkar & Karp 1982"
    certainty: ClassVar[str] = "A: the formula; D: which certificate the paper used"
    our_reading: ClassVar[str] = (
        "All usual certificates side by side; tau = sqrt(d_head), so that theta / tau is the norm of the "
        "softmax as the model scales it."
    )

    rows: int = knob(
        64,
        "Rows per head",
        low=8,
        high=4096,
        step=8,
        help="How many evenly spaced rows of each head are certified.",
        expert=True,
    )

    def read(self, view: SnapshotView) -> Answer:
        """Medians "lower" and "upper", quantiles of "lower", two columns per certificate, and theta / tau."""
        found = attention_rows(view)
        if isinstance(found, NotApplicable):
            return found
        chosen = bracketed_rows(view, found, self.rows)
        if isinstance(chosen, NotApplicable):
            return chosen
        bracket, some = chosen.bracket, chosen.some
        columns = {
            "lower": np.median(bracket.lower, axis=-1),
            "upper": np.median(bracket.upper, axis=-1),
        }
        quantiles = np.quantile(bracket.lower, QUANTILES, axis=-1)
        columns |= {
            f"{q:.0%} quantile".replace("%", " %"): v for q, v in zip(QUANTILES, quantiles, strict=True)
        }
        certificates = theta_certificates(chosen.weights[..., some, :], chosen.visible[some])
        missed = {}
        for name, bound in certificates.items():
            columns[NAMES[name]] = np.median(bound, axis=-1)
            missed[f"{NAMES[name]}, most missed"] = (bracket.upper - bound).max(axis=-1)
        columns |= missed
        without = {}
        value = view.projections.get("value")
        if value is None:
            without["theta / tau"] = NO_TEMPERATURE
        else:
            columns["theta / tau"] = columns["lower"] / np.sqrt(value.shape[-1])
        return PerHead(
            columns={name: found.answer(values) for name, values in columns.items()},
            unit=self.unit,
            units={"theta / tau": "norm, inf to 1"} if value is not None else {},
            not_applicable=without,
            provenance=Provenance(
                method="medians and quantiles over rows of the bracket and of each certificate",
                sample_size=len(some),
                exactness="sampled" if len(some) < len(chosen.visible) else "bracket",
                note=(
                    f"{found.sample}; {len(some)} evenly spaced of {len(chosen.visible)} rows per head; "
                    "missed: the bracket's upper end minus the certificate, at the worst row; "
                    f"{int((~chosen.several).sum())} rows with one visible key left out"
                ),
            ),
        )
