"""1 - theta(p): how far each head's rows are from the sharpest reaction a softmax can have."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.diagnostics.rows import AttentionRows, attention_rows
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.knobs import knob
from sandbox.foundations.readings import Answer, PerHead, Provenance
from sandbox.mathematics.theta import DEFAULT_GAP, ThetaBracket, theta_bracket

LOW, HIGH = 0.1, 0.9
SHARES = {"median p_max": "probability", "share p_max > 1/2": "share of rows", "share exact": "share of rows"}


@Diagnostic.variants.register("theta")
@dataclass(frozen=True, kw_only=True)
class Theta(Diagnostic):
    """Median and deciles of 1 - theta(p) over a head's rows, as a bracket that holds the true value."""

    title: ClassVar[str] = "1 - theta(p)"
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

    rows: int = knob(
        64,
        "Rows per head",
        low=8,
        high=4096,
        step=8,
        help="How many evenly spaced rows of each head are bracketed; p_max is read from all rows.",
        expert=True,
    )

    def read(self, view: SnapshotView) -> Answer:
        """Medians "lower" and "upper", the outer ends of the deciles, p_max, and the shares of rows."""
        found = attention_rows(view)
        if isinstance(found, NotApplicable):
            return found
        chosen = bracketed_rows(view, found, self.rows)
        if isinstance(chosen, NotApplicable):
            return chosen
        several, weights, visible, some, bracket = chosen
        lower, upper = 1.0 - bracket.upper, 1.0 - bracket.lower
        shown = np.where(visible, weights, 0.0)
        total = shown.sum(axis=-1)
        p_max = shown.max(axis=-1) / np.where(total > 0, total, np.nan)
        columns = {
            "lower": np.median(lower, axis=-1),
            "upper": np.median(upper, axis=-1),
            "10 % quantile": np.quantile(lower, LOW, axis=-1),
            "90 % quantile": np.quantile(upper, HIGH, axis=-1),
            "median p_max": np.median(p_max, axis=-1),
            "share p_max > 1/2": (p_max > 0.5).mean(axis=-1),
            "share exact": bracket.exact.mean(axis=-1),
        }
        return PerHead(
            columns={name: found.answer(values) for name, values in columns.items()},
            unit=self.unit,
            log=True,
            units=SHARES,
            linear=tuple(SHARES),
            provenance=Provenance(
                method="closed forms, greedy splits and complete search; each row within its bracket",
                tolerance=DEFAULT_GAP,
                sample_size=len(some),
                exactness="sampled" if len(some) < len(visible) else "bracket",
                note=(
                    f"{found.sample}; bracket from {len(some)} evenly spaced of {len(visible)} rows per "
                    f"head, p_max from all; {int((~several).sum())} rows with one visible key left out"
                ),
            ),
        )


class BracketedRows(NamedTuple):
    """The rows of several visible keys, and the brackets of those that were chosen."""

    several: Bool[np.ndarray, " row"]
    weights: Float[np.ndarray, "run layer head counted key"]
    visible: Bool[np.ndarray, "counted key"]
    some: Int[np.ndarray, " chosen"]
    bracket: ThetaBracket


def bracketed_rows(view: SnapshotView, found: AttentionRows, n_rows: int) -> BracketedRows | NotApplicable:
    """Brackets of `n_rows` evenly spaced rows of each head, worked out once for each view."""
    several = found.n_visible.min(axis=0) > 1
    if not several.any():
        return NotApplicable("Every probe query sees a single key, where theta is 0 by definition.")
    weights, visible = found.weights[..., several, :], found.visible[several]
    some = evenly_spaced(len(visible), n_rows)
    name = f"theta of {len(some)} rows"
    if name not in view.memo:
        view.memo[name] = theta_bracket(weights[..., some, :], visible[some])
    return BracketedRows(several, weights, visible, some, view.memo[name])


def evenly_spaced(n_rows: int, n_wanted: int) -> Int[np.ndarray, " chosen"]:
    """At most `n_wanted` of `n_rows` row numbers, spread evenly over the rows; no randomness."""
    n_chosen = min(n_rows, n_wanted)
    return np.arange(n_chosen) * n_rows // n_chosen
