"""Answers to the probe: how probable the model finds each class of a few probe sequences."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.knobs import knob
from sandbox.foundations.readings import Answer, Provenance, Table


@Diagnostic.variants.register("probe answers")
@dataclass(frozen=True, kw_only=True)
class ProbeAnswers(Diagnostic):
    """Class probabilities of the first sequences of the probe batch."""

    title: ClassVar[str] = "Answers to the probe"
    sentence: ClassVar[str] = (
        "What the model answers to a few fixed sequences, and how sure it is; the true class is marked."
    )
    equation: ClassVar[str] = r"p(y \mid x) = \mathrm{softmax}(\text{logits}(x))_y"
    unit: ClassVar[str] = "probability"
    source: ClassVar[str] = "the softmax of the logits, as in Vaswani et al., arXiv 1706.03762"
    certainty: ClassVar[str] = "A: the definition"

    sequences: int = knob(
        16, "Sequences", low=1, high=64, step=1, help="How many probe sequences are answered.", expert=True
    )

    def read(self, view: SnapshotView) -> Answer:
        """Rows are sequences, columns classes; `truth` is each sequence's class."""
        logits = view.trace.get("logits")
        if logits is None:
            return NotApplicable("This snapshot records no logits, so no answers.")
        n_read, n_classes = min(self.sequences, logits.shape[1]), len(view.probe.class_labels)
        # A model may have outputs for classes that this task does not use.
        scores = logits[:, :n_read].astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
            shares /= shares.sum(axis=-1, keepdims=True)
        return Table(
            cells=shares[:, None, None, :, :n_classes].astype(np.float32),
            rows=tuple(" ".join(view.probe.sequence(row)) for row in range(n_read)),
            columns=view.probe.class_labels,
            unit=self.unit,
            truth=tuple(int(c) for c in view.probe.classes[:n_read]),
            provenance=Provenance(
                precision="float32, softmax in float64",
                method="softmax of the logits",
                sample_size=n_read,
                note=view.probe.source,
            ),
        )
