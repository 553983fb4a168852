"""Certificates of theta(p) by kind: how close each quick lower bound comes to the bracketed value."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.diagnostics.temperature import temperatures
from sandbox.diagnostics.theta_rows import BracketedRows, OfSomeRows
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import PerHead
from sandbox.mathematics.theta import theta_certificates

NAMES = {
    "dominant_atom": "4 p_max (1 - p_max)",
    "one_minus_square": "1 - p_max^2",
    "sorted_prefix": "sorted prefix",
    "longest_first": "LPT",
    "fill_below_half": "fill below one half",
    "karmarkar_karp": "Karmarkar-Karp",
}
QUANTILES = (0.1, 0.25, 0.75, 0.9)
UNITS = {"theta / tau": "norm, inf to 1", "tau": "temperature", "share exact": "share of rows"}


@Diagnostic.variants.register("theta certificates")
@dataclass(frozen=True, kw_only=True)
class ThetaCertificates(OfSomeRows):
    """Medians of theta's bracket, of each kind of certificate and of what they miss; theta / tau."""

    title: ClassVar[str] = "Certificates of θ(p) by kind"
    sentence: ClassVar[str] = (
        "Every kind of certificate is a sound lower bound of theta; the closer its median to the bracket, "
        "the less it misses."
    )
    equation: ClassVar[str] = r"c(p) \leq \theta(p),\quad \|J_{\mathrm{softmax}(u/\tau)}\| = \theta(p)/\tau"
    unit: ClassVar[str] = "theta"
    source: ClassVar[str] = "Emadi, arXiv 2602.18849; LPT: Graham 1969; Karmarkar & Karp 1982"
    certainty: ClassVar[str] = "A: the formula; D: which certificate the paper used"
    our_reading: ClassVar[str] = (
        "All usual certificates side by side; tau is the temperature in force at this step, so that theta / "
        "tau is the norm of the softmax as the model scales it."
    )

    def of_rows(self, view: SnapshotView, chosen: BracketedRows) -> PerHead:
        """Medians "lower" and "upper", quantiles of "lower", two columns per certificate, and theta / tau."""
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
        columns["share exact"] = bracket.exact.mean(axis=-1)
        without = {}
        tau = temperatures(view)
        if isinstance(tau, NotApplicable):
            without = dict.fromkeys(("theta / tau", "tau"), tau.reason)
        else:
            columns["tau"] = np.broadcast_to(tau[..., None], columns["lower"].shape)
            columns["theta / tau"] = columns["lower"] / columns["tau"]
        return PerHead(
            columns={name: chosen.found.answer(values) for name, values in columns.items()},
            unit=self.unit,
            units={name: unit for name, unit in UNITS.items() if name in columns},
            not_applicable=without,
            provenance=chosen.provenance(
                "medians and quantiles over rows of the bracket and of each certificate",
                "missed: the bracket's upper end minus the certificate, at the worst row; theta / tau from "
                "the bracket's lower end",
            ),
        )
