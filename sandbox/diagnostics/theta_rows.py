"""Rows whose theta is bracketed: the choice, the brackets and the settings that theta's diagnostics share."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.diagnostics.rows import AttentionRows, attention_rows
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.knobs import knob
from sandbox.foundations.readings import Answer, PerHead, Provenance
from sandbox.mathematics.theta import (
    CHEAPLY_SEARCHED_KEYS,
    DEFAULT_GAP,
    ThetaBracket,
    dominant_atom,
    theta_bracket,
)

PRECISION = "float64, of attention computed in float32"
ONE_KEY = NotApplicable("Every probe query sees a single key, where theta is 0 by definition.")


class BracketedRows(NamedTuple):
    """The rows of several visible keys, and the brackets of those that were chosen."""

    found: AttentionRows
    several: Bool[np.ndarray, " row"]
    weights: Float[np.ndarray, "run layer head counted key"]
    visible: Bool[np.ndarray, "counted key"]
    some: Int[np.ndarray, " chosen"]
    bracket: ThetaBracket

    def p_max(self) -> Float[np.ndarray, "run layer head counted"]:
        """The largest share of every row that counts, chosen or not."""
        return dominant_atom(self.weights, self.visible)

    def provenance(self, method: str, more: str = "") -> Provenance:
        """How a reading of these rows came about; `more` is said in its note."""
        n_rows, n_left_out = len(self.visible), int((~self.several).sum())
        of_rows = (
            f"all {n_rows}" if len(self.some) == n_rows else f"{len(self.some)} evenly spaced of {n_rows}"
        )
        said = [self.found.sample, f"{of_rows} rows per head", more]
        said.append(f"{n_left_out} rows with one visible key left out")
        return Provenance(
            precision=PRECISION,
            method=method,
            tolerance=DEFAULT_GAP,
            sample_size=len(self.some),
            exactness=(
                "sampled" if len(self.some) < n_rows or self.found.exactness == "sampled" else "bracket"
            ),
            note="; ".join(filter(None, said)),
        )


@dataclass(frozen=True, kw_only=True)
class OfSomeRows(Diagnostic, ABC):
    """A cheap question about theta, asked of evenly spaced rows of each head."""

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
        """What `of_rows` says of the chosen rows, or why no row has a theta."""
        chosen = bracketed_rows(view, self.rows, CHEAPLY_SEARCHED_KEYS)
        return chosen if isinstance(chosen, NotApplicable) else self.of_rows(view, chosen)

    @abstractmethod
    def of_rows(self, view: SnapshotView, chosen: BracketedRows) -> PerHead:
        """The answer for these rows."""


def bracketed_rows(view: SnapshotView, n_rows: int | None, exact_to: int) -> BracketedRows | NotApplicable:
    """Brackets of `n_rows` evenly spaced rows of each head, worked out once for each view; None: of all.

    All rows are those of the whole probe batch, also where it is long. Rows of up to `exact_to` keys are
    exact.
    """
    found = attention_rows(view, whole=n_rows is None)
    if isinstance(found, NotApplicable):
        return found
    several = found.n_visible.min(axis=0) > 1
    if not several.any():
        return ONE_KEY
    weights, visible = found.weights[..., several, :], found.visible[several]
    some = evenly_spaced(len(visible), len(visible) if n_rows is None else n_rows)
    name = f"theta of {len(some)} of {len(visible)} rows, exact to {exact_to}"
    if name not in view.memo:
        view.memo[name] = theta_bracket(weights[..., some, :], visible[some], exact_to=exact_to)
    return BracketedRows(found, several, weights, visible, some, view.memo[name])


def evenly_spaced(n_rows: int, n_wanted: int) -> Int[np.ndarray, " chosen"]:
    """At most `n_wanted` of `n_rows` row numbers, spread evenly over the rows; no randomness."""
    n_chosen = min(n_rows, n_wanted)
    return np.arange(n_chosen) * n_rows // n_chosen
