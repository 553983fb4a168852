"""Attention map: where every query of one probe sequence looks, for every layer and head."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.diagnostics.rows import token_attention
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.knobs import knob
from sandbox.foundations.readings import Answer, AttentionMap, Provenance


@Diagnostic.variants.register("attention map")
@dataclass(frozen=True, kw_only=True)
class AttentionMapOfSequence(Diagnostic):
    """The attention weights of one sequence of the probe batch, padding cut off at its end."""

    title: ClassVar[str] = "Attention map"
    sentence: ClassVar[str] = "Each row is a query and sums to 1; dark cells are the tokens it reads from."
    equation: ClassVar[str] = r"P = \mathrm{softmax}(s\, X W_Q W_K^\top X^\top)"
    unit: ClassVar[str] = "attention"
    source: ClassVar[str] = "Vaswani et al., arXiv 1706.03762, equation 1"
    certainty: ClassVar[str] = "A: the standard definition"

    sequence: int = knob(
        0, "Probe sequence", low=0, high=4095, step=1, help="Which sequence of the probe batch is drawn."
    )

    def read(self, view: SnapshotView) -> Answer:
        """Weights in the precision of training, with token labels and the cells a query may see."""
        layers = token_attention(view)
        if isinstance(layers, NotApplicable):
            return layers
        n_probe = len(view.probe.tokens)
        if self.sequence >= n_probe:
            return NotApplicable(
                f"The probe batch has {n_probe} sequences; choose one from 0 to {n_probe - 1}."
            )
        visible = view.probe.visible[self.sequence]
        shown = int(np.flatnonzero(visible)[-1]) + 1 if visible.any() else len(visible)
        keys = tuple(view.probe.token_labels[t] for t in view.probe.tokens[self.sequence, :shown])
        weights = np.stack([layer[:, self.sequence] for layer in layers.weights], axis=1)[..., :shown]
        n_queries = weights.shape[-2]
        if n_queries == len(visible):  # queries are the tokens themselves
            weights, queries, sees = weights[..., :shown, :], keys, visible[:shown]
        else:
            queries = ("query",) if n_queries == 1 else tuple(f"query {i + 1}" for i in range(n_queries))
            sees = np.ones(n_queries, dtype=np.bool_)
        within_reach = np.asarray(layers.visible[:, self.sequence].any(axis=0))[: len(sees), :shown]
        mask = sees[:, None] & within_reach
        return AttentionMap(
            weights=np.where(mask, weights, 0).astype(np.float32),
            key_labels=keys,
            query_labels=queries,
            mask=mask,
            provenance=Provenance(
                precision="float32",
                method="as the model computed it",
                sample_size=1,
                note=f"probe sequence {self.sequence}, class {view.probe.labels[self.sequence]}"
                + (f"; {len(visible) - shown} padded positions cut off" if shown < len(visible) else "")
                + (f"; {layers.note}" if layers.note else ""),
            ),
        )
