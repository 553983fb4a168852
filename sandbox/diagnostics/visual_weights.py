"""Visual weights: the whole visual model at this step, from which every one of its pictures is drawn."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import Answer, Provenance
from sandbox.foundations.small_model import SmallModel

PARTS = (
    "tokens", "positions", "query", "w_value.weight", "up.weight", "up.bias", "down.weight", "down.bias",
)  # fmt: skip
MOST_NUMBERS = 2048
"""More weights than these would make a live update too large, and no picture of them could be read."""


@Diagnostic.variants.register("visual weights")
@dataclass(frozen=True, kw_only=True)
class VisualWeights(Diagnostic):
    """Every weight of the one-query visual model, in half precision, with the probe sequences."""

    title: ClassVar[str] = "The visual model's pictures"
    sentence: ClassVar[str] = (
        "Embeddings, attention, values, feed-forward part and answers of a model small enough to be drawn "
        "whole."
    )
    equation: ClassVar[str] = (
        r"z = \mathrm{RMS}(E[x]+P),\; a = \mathrm{softmax}(q^\top z/\sqrt{d}),\; \xi = \sum_t a_t V z_t,\;"
        r" h = \xi + W_2\,\mathrm{gelu}(W_1 \mathrm{RMS}(\xi) + b_1) + b_2,\; \mathrm{logits} = E h"
    )
    unit: ClassVar[str] = "embedding units"
    source: ClassVar[str] = "Odonnat, Bouaziz & Cabannes, arXiv 2410.24050 (its pictures)"
    certainty: ClassVar[str] = "A: stated by the paper and its official code"
    our_reading: ClassVar[str] = (
        "The weights are kept, not the pictures: they are fewer numbers, and any sequence can be worked out "
        "from them. Half precision moves a point by about a thousandth of its distance from the origin."
    )

    def read(self, view: SnapshotView) -> Answer:
        """The weights of every run as float16 (run, number); infinite where float16 cannot hold one."""
        if not set(PARTS) <= set(view.weights):
            return NotApplicable(
                "These pictures draw the visual model, which has one query; this model is another one."
            )
        parts = [view.weights[name] for name in PARTS]
        with np.errstate(over="ignore", invalid="ignore"):
            rows = [part.reshape(len(part), -1).astype(np.float16) for part in parts]
        values = np.concatenate(rows, axis=1)
        if values.shape[1] > MOST_NUMBERS:
            return NotApplicable(
                f"This visual model has {values.shape[1]} weights; pictures are drawn of at most "
                f"{MOST_NUMBERS}. Choose a smaller width."
            )
        probe = view.probe
        return SmallModel(
            values=values,
            names=PARTS,
            shapes=tuple(part.shape[1:] for part in parts),
            tokens=tuple(tuple(map(int, row)) for row in probe.tokens),
            classes=tuple(map(int, probe.classes)),
            token_labels=probe.token_labels,
            class_labels=probe.class_labels,
            n_prefix=probe.n_prefix,
            provenance=Provenance(
                precision="float16, of weights trained in float32",
                method="worked out again from the weights of the step",
                tolerance=1e-3,
                sample_size=len(probe.tokens),
                note=probe.source,
            ),
        )
