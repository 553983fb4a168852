"""Singular values at their ends: of each head's matrices as applied, and before the correction."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from sandbox.diagnostics.condition_numbers import MATRICES
from sandbox.diagnostics.family import Diagnostic, SnapshotView, layer_probes
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import Answer, PerHead, Provenance
from sandbox.mathematics.condition import default_tolerance, spectrum_ends

NOT_STORED = "The bare matrix is not among the weights of this snapshot."


@Diagnostic.variants.register("singular values")
@dataclass(frozen=True, kw_only=True)
class SingularValues(Diagnostic):
    """Largest and smallest singular value of W + C and of W, with kappa of W."""

    title: ClassVar[str] = "Singular values"
    sentence: ClassVar[str] = (
        "The largest and the smallest stretch of each head's matrices, with the correction and without it; "
        "where the arm has none the two agree."
    )
    equation: ClassVar[str] = r"\sigma_{\max},\ \sigma_{\min}\ \text{of}\ W + C\ \text{and of}\ W"
    unit: ClassVar[str] = "singular value"
    source: ClassVar[str] = "Saratchandran & Lucey, arXiv 2603.07162, section 3"
    certainty: ClassVar[str] = "A: the definition"
    our_reading: ClassVar[str] = "Per head on its D x d block, the papers' orientation."

    def read(self, view: SnapshotView) -> Answer:
        """Columns "query largest", "query smallest", the same "of W", and "query kappa of W"; key, value."""
        present = {name: view.projections[name] for name in MATRICES if name in view.projections}
        if not present:
            return NotApplicable("This model has no query, key or value matrix.")
        columns: dict[str, np.ndarray] = {}
        kappas: dict[str, str] = {}
        without = {
            name: f"This model has no {name} matrix." for name in MATRICES if name not in view.projections
        }
        for name, applied in present.items():
            ends = spectrum_ends(applied)
            columns |= {f"{name} largest": ends.largest, f"{name} smallest": ends.smallest}
            bare = bare_matrices(view, name, applied.shape)
            if bare is None:
                without[f"{name} of W"] = NOT_STORED
                continue
            if not np.array_equal(bare, applied):
                ends = spectrum_ends(bare)
            columns |= {f"{name} largest of W": ends.largest, f"{name} smallest of W": ends.smallest}
            columns[f"{name} kappa of W"] = ends.kappa
            kappas[f"{name} kappa of W"] = "kappa"
        shape = next(iter(present.values())).shape
        return PerHead(
            columns=columns,
            unit=self.unit,
            log=True,
            units=kappas,
            not_applicable=without,
            provenance=Provenance(
                precision="float64, of weights trained in float32",
                method="singular values of each head's matrix",
                tolerance=default_tolerance(*shape[-2:]),
                sample_size=1,
                note="kappa is infinite where the smallest is at most the tolerance times the largest",
            ),
        )


def bare_matrices(
    view: SnapshotView, name: str, shape: tuple[int, ...]
) -> Float[np.ndarray, "run layer head d_model d_head"] | None:
    """W of each head without correction, from the packed weights; None where the view holds none."""
    packed = layer_probes(view.weights, f"w_{name}.weight")
    if not packed:
        return None
    stacked = np.stack(packed, axis=1)  # run layer out in
    n_runs, n_layers, n_out, n_in = stacked.shape
    heads = stacked.reshape(n_runs, n_layers, shape[2], n_out // shape[2], n_in)
    return np.swapaxes(heads, -1, -2)
