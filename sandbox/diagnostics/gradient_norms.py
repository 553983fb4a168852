"""Gradient norms: how large the last gradient and the update made of it were, by part of the model."""

from dataclasses import dataclass
from typing import ClassVar

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import Answer, PerHead, Provenance


@Diagnostic.variants.register("gradient norms")
@dataclass(frozen=True, kw_only=True)
class GradientNorms(Diagnostic):
    """Euclidean norms of gradient and update per part, as the trainer measured them at its last update."""

    title: ClassVar[str] = "Gradient and update norms"
    sentence: ClassVar[str] = (
        "Which part of the model learns: the length of the last batch's gradient and of the step made of it, "
        "part by part; a loss spike often shows here first."
    )
    equation: ClassVar[str] = (
        r"|\nabla_{\theta_p} L|,\quad |\theta_p(t) - \theta_p(t-1)|\ \text{for each part } p"
    )
    unit: ClassVar[str] = "norm"
    source: ClassVar[str] = "Odonnat, Bouaziz & Cabannes, arXiv 2410.24050 (gradient norms at loss spikes)"
    certainty: ClassVar[str] = "A: the definition"
    our_reading: ClassVar[str] = (
        "The batch's gradient before any clipping. It belongs to the update that led to this step, so stored "
        "weights alone have none."
    )

    def read(self, view: SnapshotView) -> Answer:
        """Columns "gradient: all", "update: all", then both for every part that the model has."""
        if not view.norms:
            return NotApplicable("Gradients are known while a run trains; stored weights alone have none.")
        return PerHead(
            columns={name: values[:, None, None] for name, values in view.norms.items()},
            unit=self.unit,
            log=True,
            per="run",
            provenance=Provenance(
                precision="float32, as trained",
                method="Euclidean norm of the batch gradient before clipping, and of the update",
                sample_size=int(getattr(view.setting, "batch_size", 1)),
                note="of the update that led to this step; none where no update was made in this process",
            ),
        )
