"""Attention entropy: does a query look everywhere, or at one key?"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.diagnostics.rows import attention_rows
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import Answer, PerHead, Provenance
from sandbox.mathematics.entropy import row_entropy

NO_OWN_TOKEN = "The query of this model is learned and is no token, so it cannot attend to itself."


@Diagnostic.variants.register("attention entropy")
@dataclass(frozen=True, kw_only=True)
class AttentionEntropy(Diagnostic):
    """Mean row entropy of each head, plain and normalized, with the self-attention mass."""

    title: ClassVar[str] = "Attention entropy"
    sentence: ClassVar[str] = (
        "How widely each head looks: ln(number of keys) is flat attention, 0 is a single key; a "
        "self-attention mass near 1 says that every token looks at itself only."
    )
    equation: ClassVar[str] = (
        r"H(p) = -\sum_j p_j \ln p_j,\quad \hat H = H / \ln(\text{visible keys}),\quad "
        r"m = \tfrac{1}{N}\sum_n P_{nn}"
    )
    unit: ClassVar[str] = "nats"
    source: ClassVar[str] = "Shannon 1948, section 6; read beside theta in Emadi, arXiv 2602.18849"
    certainty: ClassVar[str] = "A: the standard definition, natural logarithm"
    our_reading: ClassVar[str] = (
        "Mean over the probe batch's visible queries; the normalized entropy leaves out rows with one "
        "visible key."
    )

    def read(self, view: SnapshotView) -> Answer:
        """Columns "entropy" in nats, "normalized entropy" and "self-attention mass" in 0 to 1."""
        rows = attention_rows(view)
        if isinstance(rows, NotApplicable):
            return rows
        entropy = row_entropy(rows.weights, rows.visible)
        several = rows.n_visible > 1  # layer row
        n_several = several.sum(axis=-1)
        columns = {"entropy": rows.answer(entropy.mean(axis=-1))}
        without = {}
        if several.any():
            flat = np.log(np.maximum(rows.n_visible, 2))[:, None]  # layer 1 row
            normalized = np.where(several[:, None], np.minimum(entropy / flat, 1.0), 0.0).sum(axis=-1)
            mean = normalized / np.where(n_several > 0, n_several, np.nan)[:, None]
            columns["normalized entropy"] = rows.answer(mean)
        else:
            without["normalized entropy"] = (
                "Every probe query sees a single key, so there is nothing to divide by."
            )
        if rows.own_key is not None:
            columns["self-attention mass"] = rows.answer(rows.own_key.mean(axis=-1))
        else:
            without["self-attention mass"] = NO_OWN_TOKEN
        return PerHead(
            columns=columns,
            unit=self.unit,
            units={name: "share" for name in columns if name != "entropy"},
            not_applicable=without,
            provenance=Provenance(
                precision="float64, of attention computed in float32",
                method="mean over visible queries",
                sample_size=len(rows.visible),
                exactness=rows.exactness,
                note=(
                    f"{rows.sample}; the normalized entropy leaves out "
                    f"{int((~several).sum(axis=-1).max())} rows with one visible key"
                ),
            ),
        )
