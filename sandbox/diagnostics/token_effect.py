"""Token effect: how far exchanging the token at a position moves the sequence embedding."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import Answer, PerHead, Provenance

ONE_QUERY_ONLY = NotApplicable(
    "The token effect is defined for one query over the tokens; in a self-attention encoder every layer "
    "mixes tokens, so a position has no single effect."
)
NO_PREFIX = "The class is not decided by a prefix in this task, so no share belongs to one."


@Diagnostic.variants.register("token effect")
@dataclass(frozen=True, kw_only=True)
class TokenEffect(Diagnostic):
    """a_t |V (z(token) - z(other token))| at each position t, and the prefix's share of their sum."""

    title: ClassVar[str] = "Token effect per position"
    sentence: ClassVar[str] = (
        "Positions that decide nothing should have no effect: their tokens' embeddings draw together, even "
        "where attention stays on them."
    )
    equation: ClassVar[str] = r"a_t\,|V(z_t(0) - z_t(1))|,\quad z_t(x) = \mathrm{RMS}(E[x] + P[t])"
    unit: ClassVar[str] = "distance in xi"
    source: ClassVar[str] = "Odonnat, Bouaziz & Cabannes, arXiv 2410.24050"
    certainty: ClassVar[str] = "C: our measure, which also sees suffix blindness that comes from embeddings"
    our_reading: ClassVar[str] = (
        "a_t is the mean attention of the probe batch; with more than two tokens, the mean over all pairs."
    )

    def read(self, view: SnapshotView) -> Answer:
        """Columns "position 1" on, "prefix share" in 0 to 1 and "prefix mass" of attention."""
        values, weights = view.trace.get("attention.values"), view.trace.get("attention.weights")
        if values is None or weights is None or weights.shape[-2] != 1:
            return ONE_QUERY_ONLY
        n_tokens = view.probe.tokens.shape[1]
        mean_attention = weights[:, :, 0, 0].astype(np.float64).mean(axis=1)  # run token
        effects = np.zeros((len(values), n_tokens))
        for position in range(n_tokens):
            seen, first = np.unique(view.probe.tokens[:, position], return_index=True)
            moved = values[:, first, position].astype(np.float64)  # run kind d: the same in every sequence
            apart = np.linalg.norm(moved[:, :, None] - moved[:, None], axis=-1)
            pairs = max(len(seen) * (len(seen) - 1), 1)
            effects[:, position] = mean_attention[:, position] * apart.sum(axis=(1, 2)) / pairs
        columns = {f"position {t + 1}": effects[:, t] for t in range(n_tokens)}
        without = {}
        n_prefix = view.probe.n_prefix
        if n_prefix is None:
            without = {"prefix share": NO_PREFIX, "prefix mass": NO_PREFIX}
        else:
            total = effects.sum(axis=1)
            share = effects[:, :n_prefix].sum(axis=1) / np.where(total > 0, total, np.nan)
            columns |= {"prefix share": share, "prefix mass": mean_attention[:, :n_prefix].sum(axis=1)}
        return PerHead(
            columns={name: column[:, None, None] for name, column in columns.items()},
            unit=self.unit,
            units={} if n_prefix is None else {"prefix share": "share", "prefix mass": "attention"},
            not_applicable=without,
            per="run",
            provenance=Provenance(
                precision="float64, of values computed in float32",
                method="distance of the values of two tokens at a position, times its mean attention",
                sample_size=len(view.probe.tokens),
                exactness="sampled",
                note=f"{view.probe.source}; where a position shows one token only its effect reads 0",
            ),
        )
