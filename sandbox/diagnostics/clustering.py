"""Clustering: do sequences with the same prefix, up to its order, land on the same embedding?"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.knobs import knob
from sandbox.foundations.readings import Answer, PerHead, Provenance
from sandbox.mathematics.clustering import n_prefix_groups, prefix_groups, variance_within_groups
from sandbox.mathematics.distinct_points import count_clumps

SEQUENCE_EMBEDDINGS = ("xi", "readout")
NO_PREFIX = NotApplicable(
    "The class of a sequence is not decided by a prefix in this task, so there are no prefix clusters."
)


@Diagnostic.variants.register("clustering")
@dataclass(frozen=True, kw_only=True)
class Clustering(Diagnostic):
    """Share of the sequence embeddings' variance within groups of equal prefix multiset, and clump count."""

    title: ClassVar[str] = "Clustering of sequence embeddings"
    sentence: ClassVar[str] = (
        "Near 0 the model has merged all sequences whose deciding tokens are the same up to order; near 1 it "
        "keeps them apart, which does not rule out a high accuracy."
    )
    equation: ClassVar[str] = (
        r"\sum_g \sum_{i \in g} |\xi_i - \bar\xi_g|^2 / \sum_i |\xi_i - \bar\xi|^2,\quad "
        r"\binom{k+p-1}{p-1}\ \text{multisets}"
    )
    unit: ClassVar[str] = "within / total"
    source: ClassVar[str] = "Odonnat, Bouaziz & Cabannes, arXiv 2410.24050 (clustering heads)"
    certainty: ClassVar[str] = "A: the clusters; C: this measure of them"
    our_reading: ClassVar[str] = (
        "xi of the visual model, the read-out of the encoder. Clumps: points linked by steps of at most "
        "the stated share of the cloud's RMS radius."
    )

    radius: float = knob(
        0.1,
        "Clump radius",
        low=0.001,
        high=1.0,
        step=0.01,
        help="Share of the cloud's RMS radius below which two embeddings count as linked.",
        expert=True,
    )

    def read(self, view: SnapshotView) -> Answer:
        """Columns "within / total", "clumps", and the constants "multisets present" and "multisets"."""
        n_prefix = view.probe.n_prefix
        if n_prefix is None:
            return NO_PREFIX
        name = next((name for name in SEQUENCE_EMBEDDINGS if name in view.trace), None)
        if name is None:
            return NotApplicable("This model records no sequence embedding.")
        points = view.trace[name]
        groups = prefix_groups(view.probe.tokens, n_prefix)
        clumps = count_clumps(points, self.radius).astype(np.float64)
        n_present = len(np.unique(groups))
        per_run = {
            "within / total": variance_within_groups(points, groups),
            "clumps": np.where(clumps < 0, np.nan, clumps),
        }
        n_multisets = n_prefix_groups(len(view.probe.token_labels), n_prefix)
        return PerHead(
            columns={name: values[:, None, None] for name, values in per_run.items()},
            unit=self.unit,
            units={"clumps": "clumps"},
            log=True,
            linear=("clumps",),
            per="run",
            provenance=Provenance(
                precision="float64, of embeddings computed in float32",
                method=f"{name} grouped by the multiset of the first {n_prefix} tokens",
                sample_size=len(groups),
                exactness="sampled",
                note=(
                    f"{view.probe.source}; {n_present} of {n_multisets} multisets present, so a clustered "
                    f"model shows {n_present} clumps, or fewer where it has merged more; linked within "
                    f"{self.radius:g} of the RMS radius"
                ),
            ),
        )
