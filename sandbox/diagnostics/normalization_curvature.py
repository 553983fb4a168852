"""Curvature of the normalization: how violently xi / |xi| turns where xi is short, the cause of spikes."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import Answer, PerHead, Provenance


@Diagnostic.variants.register("normalization curvature")
@dataclass(frozen=True, kw_only=True)
class NormalizationCurvature(Diagnostic):
    """Smallest and median |xi| over the probe sequences, and the largest sqrt(d) / |xi|^2."""

    title: ClassVar[str] = "Curvature of the normalization"
    sentence: ClassVar[str] = (
        "Where a sequence embedding comes close to zero, normalizing it turns tiny steps into large ones, "
        "and the loss can spike."
    )
    equation: ClassVar[str] = r"x \mapsto \sqrt{d}\,x/|x|,\quad \text{curvature} = \sqrt{d}/|\xi|^2"
    unit: ClassVar[str] = "|xi|"
    source: ClassVar[str] = "Odonnat, Bouaziz & Cabannes, arXiv 2410.24050 (loss spikes)"
    certainty: ClassVar[str] = "A: the paper's explanation; B: the curvature of the sphere map"
    our_reading: ClassVar[str] = (
        "Over the probe batch; a training sequence may come closer to zero than any probe sequence."
    )

    def read(self, view: SnapshotView) -> Answer:
        """Columns "smallest", "median" (lengths) and "curvature" (the largest)."""
        xi = view.trace.get("xi")
        if xi is None:
            return NotApplicable(
                "This model does not normalize a sequence embedding xi; for its layer norms see the residual "
                "geometry."
            )
        length = np.linalg.norm(xi.astype(np.float64), axis=-1)
        smallest = length.min(axis=1)
        with np.errstate(divide="ignore"):
            curvature = np.sqrt(xi.shape[-1]) / smallest**2
        columns = {"smallest": smallest, "median": np.median(length, axis=1), "curvature": curvature}
        return PerHead(
            columns={name: values[:, None, None] for name, values in columns.items()},
            unit=self.unit,
            log=True,
            units={"curvature": "sqrt(d) / |xi|^2"},
            per="run",
            provenance=Provenance(
                precision="float64, of xi computed in float32",
                method="lengths of xi over the probe sequences",
                sample_size=xi.shape[1],
                exactness="sampled",
                note=view.probe.source,
            ),
        )
