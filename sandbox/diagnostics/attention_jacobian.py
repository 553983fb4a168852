"""Condition of the attention Jacobian: how unevenly a head's output answers to its three matrices."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.diagnostics.jacobians import MOST_OUTPUTS, measured_jacobians, size_of_j
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.knobs import knob
from sandbox.foundations.readings import Answer, PerHead, Provenance
from sandbox.mathematics.condition import default_tolerance
from sandbox.mathematics.middle import geometric_mean_of_finite, median_of_condition

PAPER = "the paper's expression (Eq. 10 with kappa_+), no bound"


@Diagnostic.variants.register("attention jacobian")
@dataclass(frozen=True, kw_only=True)
class AttentionJacobian(Diagnostic):
    """kappa of J = [dA/dW_Q, dA/dW_K, dA/dW_V] over its structural ceiling, kappa_eff, rank and ends."""

    title: ClassVar[str] = "Condition κ(J) of the attention Jacobian"
    sentence: ClassVar[str] = (
        "How unevenly a head's output answers to changes of its matrices; a low value can also mean that "
        "attention is switched off, so read it beside entropy and self-attention mass."
    )
    equation: ClassVar[str] = (
        r"J = [\partial A/\partial W_Q,\ \partial A/\partial W_K,\ \partial A/\partial W_V],\quad "
        r"\kappa = \sigma_1/\sigma_R,\ R\ \text{the structural ceiling}"
    )
    unit: ClassVar[str] = "kappa"
    source: ClassVar[str] = "Saratchandran & Lucey, arXiv 2603.07162, Thm 3.4 and Eq. 10"
    certainty: ClassVar[str] = "A: the Jacobian; C: its structural rank; D: how the authors averaged"
    our_reading: ClassVar[str] = (
        "J of the head's output before any output conditioning, with W + C and the model's scale; median and "
        "geometric mean over samples. Eq. 10 read literally is infinite; with kappa_+ it is an expression, "
        "not a bound."
    )
    cost: ClassVar[str] = "costly"
    usual_ms: ClassVar[float] = 26

    sequences: int = knob(
        4, "Sequences", low=1, high=64, step=1, help="How many probe sequences J is formed on.", expert=True
    )

    def read(self, view: SnapshotView) -> Answer:
        """Middles over samples; "rank" and "ceiling" as medians, so that infinite says rank r of R."""
        if "query" in view.projections and size_of_j(view)[0] > MOST_OUTPUTS:
            return NotApplicable(
                f"A head of {size_of_j(view)[0]} outputs (tokens times width) is beyond {MOST_OUTPUTS}, up "
                "to which J is formed; shorten the sequences or narrow the heads."
            )
        found = measured_jacobians(view, self.sequences)
        if isinstance(found, NotApplicable):
            return found
        n_outputs, n_parameters = size_of_j(view)
        shape = found.shape
        grids = {name: np.full(shape, np.nan) for name in ("kappa", "effective", "rank", "ceiling", "paper")}
        ends = {name: np.full(shape, np.nan) for name in ("largest", "smallest")}
        for member in found.members:
            condition, place = member.condition, member.place
            if condition is None:
                continue
            grids["kappa"][place] = condition.kappa
            grids["effective"][place] = condition.kappa_effective
            grids["rank"][place] = condition.rank
            grids["ceiling"][place] = condition.ceiling
            grids["paper"][place] = member.paper
            ends["largest"][place] = condition.largest
            ends["smallest"][place] = condition.smallest_nonzero
        share = np.where(found.broken, np.nan, np.isinf(grids["kappa"]).mean(axis=-1))
        columns = {
            "median": median_of_condition(grids["kappa"]),
            "geometric mean": geometric_mean_of_finite(grids["kappa"]),
            "share infinite": share,
            "kappa_eff": median_of_condition(grids["effective"]),
            "rank": median_of_condition(grids["rank"]),
            "ceiling": median_of_condition(grids["ceiling"]),
            "largest": median_of_condition(ends["largest"]),
            "smallest non-zero": median_of_condition(ends["smallest"]),
            PAPER: median_of_condition(grids["paper"]),
        }
        return PerHead(
            columns=columns,
            unit=self.unit,
            log=True,
            units={
                "share infinite": "share of samples",
                "rank": "rank",
                "ceiling": "rank",
                "largest": "singular value",
                "smallest non-zero": "singular value",
                PAPER: "no bound",
            },
            linear=("share infinite", "rank", "ceiling"),
            provenance=Provenance(
                precision="float64, of weights trained in float32",
                method=(
                    "eigenvalues of J J^T down to a ratio of 1e-10, below that the singular values of J; "
                    "infinite where the rank stays below the ceiling"
                ),
                tolerance=default_tolerance(n_outputs, n_parameters),
                sample_size=shape[-1],
                exactness="exact" if shape[-1] == len(view.probe.tokens) else "sampled",
                note=(
                    f"{shape[-1]} of {len(view.probe.tokens)} probe sequences; J is {n_outputs} x "
                    f"{n_parameters}"
                ),
            ),
        )
