"""Condition of attention: how unevenly each head's attention matrices stretch, sequence by sequence."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.diagnostics.rows import token_attention
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.knobs import knob
from sandbox.foundations.readings import Answer, PerHead, Provenance
from sandbox.mathematics.middle import geometric_mean_of_finite, median_of_condition

NOT_SQUARE = (
    "This model's queries are no tokens, so its attention is no square matrix; one row alone always has "
    "kappa 1."
)


@Diagnostic.variants.register("attention condition")
@dataclass(frozen=True, kw_only=True)
class AttentionCondition(Diagnostic):
    """kappa of the attention matrix P for each sequence and head, as middles over the sequences."""

    title: ClassVar[str] = "Condition κ(P) of attention matrices"
    sentence: ClassVar[str] = (
        "1 means that every pattern over the tokens survives mixing; large or infinite that attention sends "
        "different patterns to nearly the same mixture."
    )
    equation: ClassVar[str] = r"\kappa(P) = \sigma_1(P) / \sigma_N(P)"
    unit: ClassVar[str] = "kappa"
    source: ClassVar[str] = "Saratchandran & Lucey, arXiv 2603.07162, equation 10 (the term kappa(P))"
    certainty: ClassVar[str] = "A: the definition; D: how the authors averaged"
    our_reading: ClassVar[str] = (
        "Median and geometric mean over sequences, never the arithmetic mean, which has no stable value; the "
        "identity has kappa 1 too, so read it beside the self-attention mass."
    )

    sequences: int = knob(
        8,
        "Sequences",
        low=1,
        high=64,
        step=1,
        help="How many sequences of the probe batch are read.",
        expert=True,
    )

    def read(self, view: SnapshotView) -> Answer:
        """Columns "median", "geometric mean" (of the regular ones) and "share singular"."""
        found = token_attention(view)
        if isinstance(found, NotApplicable):
            return found
        layers = found.weights
        if layers[0].shape[-1] != layers[0].shape[-2]:
            return NotApplicable(NOT_SQUARE)
        n_read = min(self.sequences, len(view.probe.tokens))
        visible = view.probe.visible[:n_read]
        cells = visible[:, None, :] & visible[:, :, None]
        weights = np.stack([layer[:, :n_read] for layer in layers], axis=1, dtype=np.float64)
        # Hidden rows and columns are zero, so they add zeros behind the visible block's singular values.
        weights = np.where(cells[:, None], weights, 0.0)  # run layer batch head query key
        finite = np.asarray(np.isfinite(weights).all(axis=(-2, -1)))
        values = np.linalg.svd(np.where(finite[..., None, None], weights, 0.0), compute_uv=False)
        n_visible = np.maximum(visible.sum(axis=1), 1)
        last = np.take_along_axis(values, (n_visible - 1)[None, None, :, None, None], axis=-1)[..., 0]
        tolerance = weights.shape[-1] * float(np.finfo(np.float32).eps)
        regular = last > tolerance * values[..., 0]
        kappa = np.where(regular, values[..., 0] / np.where(regular, last, 1.0), np.inf)
        kappa = np.moveaxis(np.where(finite, kappa, np.nan), 2, -1)  # run layer head batch
        broken = np.isnan(kappa).any(axis=-1)
        columns = {
            "median": median_of_condition(kappa),
            "geometric mean": geometric_mean_of_finite(kappa),
            "share singular": np.where(broken, np.nan, np.isinf(kappa).mean(axis=-1)),
        }
        return PerHead(
            columns=columns,
            unit=self.unit,
            log=True,
            units={"share singular": "share of sequences"},
            linear=("share singular",),
            provenance=Provenance(
                precision="float64, of weights computed in float32",
                method="singular values of each sequence's visible block",
                tolerance=tolerance,
                sample_size=n_read,
                exactness="exact" if n_read == len(view.probe.tokens) else "sampled",
                note=(
                    f"{n_read} of {len(view.probe.tokens)} probe sequences; singular where the smallest "
                    "value is at most the tolerance times the largest; the geometric mean is over the others"
                    + (f"; {found.note}" if found.note else "")
                ),
            ),
        )
