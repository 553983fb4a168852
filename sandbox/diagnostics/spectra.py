"""Spectra: every singular value of each head's matrices, from the strongest stretch to the weakest."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sandbox.diagnostics.condition_numbers import MATRICES
from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.knobs import knob
from sandbox.foundations.readings import Answer, Provenance, Table
from sandbox.mathematics.condition import singular_values

LETTERS = {"query": "W_Q", "key": "W_K", "value": "W_V"}


@Diagnostic.variants.register("spectra")
@dataclass(frozen=True, kw_only=True)
class Spectra(Diagnostic):
    """All singular values of W + C, each matrix a column and each rank a row."""

    title: ClassVar[str] = "Spectra"
    sentence: ClassVar[str] = (
        "All stretches of a matrix at once: whether a large condition number comes from one lost direction "
        "or from a spectrum that is spread as a whole."
    )
    equation: ClassVar[str] = r"\sigma_1 \geq \dots \geq \sigma_d\ \text{of}\ W + C"
    unit: ClassVar[str] = "singular value"
    source: ClassVar[str] = "Saratchandran & Lucey, arXiv 2603.07162, section 3"
    certainty: ClassVar[str] = "A: the definition"
    our_reading: ClassVar[str] = "Per head on its D x d block, correction included."

    most: int = knob(
        64,
        "Singular values",
        low=2,
        high=512,
        step=1,
        help="How many are kept; of more, evenly spaced ranks with the largest and the smallest.",
        expert=True,
    )

    def read(self, view: SnapshotView) -> Answer:
        """Rows are ranks, columns the matrices that this model has."""
        present = [name for name in MATRICES if name in view.projections]
        if not present:
            return NotApplicable("This model has no query, key or value matrix.")
        values = np.stack([singular_values(view.projections[name]) for name in present], axis=-1)
        n_all = values.shape[-2]
        kept = np.unique(np.linspace(0, n_all - 1, min(self.most, n_all)).round().astype(int))
        return Table(
            cells=values[..., kept, :].astype(np.float32),
            rows=tuple(f"σ{rank + 1}" for rank in kept),
            columns=tuple(LETTERS[name] for name in present),
            unit=self.unit,
            log=True,
            provenance=Provenance(
                precision="float64, stored in float32",
                method="singular values of each head's matrix",
                sample_size=1,
                note="" if len(kept) == n_all else f"{len(kept)} of {n_all} singular values",
            ),
        )
