"""theta(p) by layer: the rows of all heads of a layer together, every one bracketed."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.diagnostics.theta_rows import bracketed_rows
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.knobs import knob
from sandbox.foundations.readings import Answer, PerHead
from sandbox.mathematics.entropy import row_entropy
from sandbox.mathematics.theta_exact import MOST_SEARCHED_KEYS

QUANTILES = {"10 %": 0.1, "25 %": 0.25, "median": 0.5, "75 %": 0.75, "90 %": 0.9}
UNITS = {
    "median p_max": "probability",
    "share p_max > 1/2": "share of rows",
    "share exact": "share of rows",
    "normalized entropy": "share",
}


@Diagnostic.variants.register("theta by layer")
@dataclass(frozen=True, kw_only=True)
class ThetaByLayer(Diagnostic):
    """Quantiles of theta's bracket over all (head, query) rows of a layer, with p_max beside them."""

    title: ClassVar[str] = "θ(p) by layer"
    sentence: ClassVar[str] = (
        "How sensitive the softmax of a whole layer is; a median near one is automatic while the median row "
        "has no dominant key."
    )
    equation: ClassVar[str] = r"\theta(p) = 4 \max_S p(S)\,(1 - p(S)) \geq 1 - p_{\max}^2"
    unit: ClassVar[str] = "theta"
    source: ClassVar[str] = "Emadi, arXiv 2602.18849 (rows of all heads of a layer)"
    certainty: ClassVar[str] = "A: the formula; C: the closed forms and searches that bracket it"
    our_reading: ClassVar[str] = (
        "Every row of every head on the whole probe batch, rows with one visible key left out; the quantiles "
        "of the lower and of the upper end of each row's bracket."
    )
    cost: ClassVar[str] = "costly"
    usual_ms: ClassVar[float] = 4

    exact_to: int = knob(
        MOST_SEARCHED_KEYS,
        "Exact to",
        low=1,
        high=MOST_SEARCHED_KEYS,
        step=1,
        help="Keys up to which every row is exact; longer rows stop once they are known to 1e-6.",
        expert=True,
    )

    def read(self, view: SnapshotView) -> Answer:
        """Per layer: five quantiles of each end of the bracket, p_max, the shares of rows, entropy."""
        chosen = bracketed_rows(view, None, self.exact_to)
        if isinstance(chosen, NotApplicable):
            return chosen
        columns: dict[str, np.ndarray] = {}
        for end in ("lower", "upper"):
            values = np.quantile(_pooled(getattr(chosen.bracket, end)), list(QUANTILES.values()), axis=-1)
            columns |= {f"{end}, {name}": value for name, value in zip(QUANTILES, values, strict=True)}
        p_max = _pooled(chosen.p_max())
        columns["median p_max"] = np.median(p_max, axis=-1)
        columns["share p_max > 1/2"] = (p_max > 0.5).mean(axis=-1)
        columns["share exact"] = _pooled(chosen.bracket.exact).mean(axis=-1)
        entropy = row_entropy(chosen.weights, chosen.visible)
        flat = np.log(chosen.found.n_visible[:, chosen.several])[:, None]  # layer 1 row
        columns["normalized entropy"] = np.minimum(_pooled(entropy / flat), 1.0).mean(axis=-1)
        broken = chosen.found.broken.any(axis=-1)
        return PerHead(
            columns={name: np.where(broken, np.nan, v)[..., None] for name, v in columns.items()},
            unit=self.unit,
            units=UNITS,
            per="layer",
            provenance=chosen.provenance(
                f"closed forms, greedy splits, complete search to {self.exact_to} keys; quantiles over the "
                "rows of all heads"
            ),
        )


def _pooled(values: np.ndarray) -> np.ndarray:
    """(run, layer, head, row) with the rows of all heads on one axis."""
    return values.reshape(*values.shape[:2], -1)
