"""1 - theta(p): how far each head's rows are from the sharpest reaction a softmax can have."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.diagnostics.theta_rows import BracketedRows, OfSomeRows
from sandbox.foundations.readings import PerHead

LOW, HIGH = 0.1, 0.9
SHARES = {"median p_max": "probability", "share p_max > 1/2": "share of rows", "share exact": "share of rows"}


@Diagnostic.variants.register("theta")
@dataclass(frozen=True, kw_only=True)
class Theta(OfSomeRows):
    """Median and deciles of 1 - theta(p) over a head's rows, as a bracket that holds the true value."""

    title: ClassVar[str] = "1 - θ(p)"
    sentence: ClassVar[str] = (
        "Near 0 a small change of the scores can move attention as much as softmax ever allows; only rows "
        "with one dominant key (p_max above 2/3) rise above 1/9, so read it beside p_max."
    )
    equation: ClassVar[str] = r"\theta(p) = 4 \max_S p(S)\,(1 - p(S))"
    unit: ClassVar[str] = "1 - theta"
    source: ClassVar[str] = "Emadi, arXiv 2602.18849 (exact norm of the softmax Jacobian)"
    certainty: ClassVar[str] = "A: the formula; C: the closed forms and searches that bracket it"
    our_reading: ClassVar[str] = (
        "Over all visible queries of the probe batch, rows with one visible key left out; which certificate "
        "the paper used is not public, so each value is a bracket."
    )

    def of_rows(self, view: SnapshotView, chosen: BracketedRows) -> PerHead:
        """Medians "lower" and "upper", the outer ends of the deciles, p_max, and the shares of rows."""
        lower, upper = 1.0 - chosen.bracket.upper, 1.0 - chosen.bracket.lower
        p_max = chosen.p_max()
        columns = {
            "lower": np.median(lower, axis=-1),
            "upper": np.median(upper, axis=-1),
            "10 % quantile": np.quantile(lower, LOW, axis=-1),
            "90 % quantile": np.quantile(upper, HIGH, axis=-1),
            "median p_max": np.median(p_max, axis=-1),
            "share p_max > 1/2": (p_max > 0.5).mean(axis=-1),
            "share exact": chosen.bracket.exact.mean(axis=-1),
        }
        return PerHead(
            columns={name: chosen.found.answer(values) for name, values in columns.items()},
            unit=self.unit,
            log=True,
            units=SHARES,
            linear=tuple(SHARES),
            provenance=chosen.provenance(
                "closed forms, greedy splits and complete search; each row within its bracket",
                "p_max from all",
            ),
        )
