"""Condition numbers: how unevenly each head's query, key and value matrices stretch."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import Answer, PerHead, Provenance
from sandbox.mathematics.condition import condition_number, default_tolerance

MATRICES = ("query", "key", "value")


@Diagnostic.variants.register("condition numbers")
@dataclass(frozen=True, kw_only=True)
class ConditionNumbers(Diagnostic):
    """kappa of W_Q, W_K and W_V of each head, with the arm's correction added."""

    title: ClassVar[str] = "Condition numbers κ(W)"
    sentence: ClassVar[str] = (
        "1 stretches all directions alike, large means that some direction is nearly lost; the matrices are "
        "those the model applies, correction included."
    )
    equation: ClassVar[str] = r"\kappa(W + C) = \sigma_{\max}(W + C) / \sigma_{\min}(W + C)"
    unit: ClassVar[str] = "kappa"
    source: ClassVar[str] = "Saratchandran & Lucey, arXiv 2603.07162, section 3"
    certainty: ClassVar[str] = "A: the definition; D: the conditions under which the paper's shift lowers it"
    our_reading: ClassVar[str] = (
        "Per head on its D x d block. A correction can raise kappa; entropy and self-attention mass say "
        "whether a low value only means that attention is switched off."
    )

    def read(self, view: SnapshotView) -> Answer:
        """Columns "query", "key", "value"; infinite where a matrix is singular at the stated tolerance."""
        present = {name: view.projections[name] for name in MATRICES if name in view.projections}
        if not present:
            return NotApplicable("This model has no query, key or value matrix.")
        shape = next(iter(present.values())).shape
        return PerHead(
            columns={name: np.asarray(condition_number(stack)) for name, stack in present.items()},
            unit=self.unit,
            log=True,
            not_applicable={
                name: f"This model has no {name} matrix, so it has no condition number."
                for name in MATRICES
                if name not in present
            },
            provenance=Provenance(
                precision="float64, of weights trained in float32",
                method="singular values of each head's matrix, correction included",
                tolerance=default_tolerance(*shape[-2:]),
                sample_size=1,
                note="infinite where the smallest singular value is at most the tolerance times the largest",
            ),
        )
