"""Trajectories: where the embeddings of the probe sequences stand in the plane, step after step."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.diagnostics.fixed_plane import CHOICE, Points, fit_plane, in_plane
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import Answer

SEQUENCE_EMBEDDINGS = ("readout", "xi")
CLASSIFIER = "classify.weight"
"""The encoder's matrix (class, d_model) that reads the classes off its read-out."""


@Diagnostic.variants.register("trajectories")
@dataclass(frozen=True, kw_only=True)
class Trajectories(Diagnostic):
    """Embeddings of the probe sequences as the classifier reads them, in two fixed dimensions."""

    title: ClassVar[str] = "Sequence trajectories"
    sentence: ClassVar[str] = (
        "Every point is a whole sequence, coloured by its class; learning shows as classes that draw apart."
    )
    equation: ClassVar[str] = r"y_i = B\,(x_i - c)"
    unit: ClassVar[str] = "embedding units"
    source: ClassVar[str] = "Odonnat, Bouaziz & Cabannes, arXiv 2410.24050 (embedding pictures)"
    certainty: ClassVar[str] = "A: what is drawn at d = 2; C: the plane for larger widths is our choice"
    our_reading: ClassVar[str] = (
        f"Sequences are drawn as the classifier reads them. {CHOICE} In the encoder the first "
        "axis is what its classifier reads at the start, with three classes or more both are: of a plane of "
        "largest variance at the start, four hundredths of the later variance were left."
    )

    def read(self, view: SnapshotView) -> Answer:
        """Points of every run; fits the plane into `view.basis` where that has none yet."""
        return in_plane(view, "trajectories", _points(view))

    def fit(self, view: SnapshotView) -> dict[str, np.ndarray] | NotApplicable:
        """The plane to keep in the `basis` of every later view, and of the other arms' views."""
        return fit_plane(view, "trajectories", _points(view))


def _points(view: SnapshotView) -> Points | NotApplicable:
    name = next((name for name in SEQUENCE_EMBEDDINGS if name in view.trace), None)
    if name is None:
        return NotApplicable("This model records no sequence embedding, so there is nothing to follow.")
    values = view.trace[name].astype(np.float64)
    return Points(
        values=values,
        labels=tuple(" ".join(view.probe.sequence(row)) for row in range(len(view.probe.tokens))),
        groups=tuple(f"class {label}" for label in view.probe.labels),
        read_by=view.weights.get(CLASSIFIER) if name == "readout" else None,
    )
