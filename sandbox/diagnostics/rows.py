"""Rows of attention of the probe batch: which queries count, and which keys they may see."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from sandbox.diagnostics.family import SnapshotView, layer_probes
from sandbox.foundations.answers import NotApplicable

CELLS_PER_HEAD = 16384  # query-key cells read per head: all 64 sequences of 12 tokens, 16 of 32 tokens
FEWEST_SEQUENCES = 4

NO_ATTENTION = NotApplicable("This model records no attention weights, so there is nothing to measure.")


class AttentionRows(NamedTuple):
    """One row per visible query, the same rows for every run, layer and head."""

    weights: Float[np.ndarray, "run layer head row key"]
    visible: Bool[np.ndarray, "row key"]
    own_key: Float[np.ndarray, "run layer head row"] | None
    """Attention of each query to its own token; None where queries are no tokens."""
    broken: Bool[np.ndarray, "run layer head"]
    """Heads with a weight that is not finite; their rows are made flat here, and their answers NaN."""
    sample: str
    """Which part of the probe batch was read."""
    exactness: str
    """"exact" where all of the probe batch was read, else "sampled"."""

    def answer(self, values: np.ndarray) -> Float[np.ndarray, "run layer head"]:
        """`values` (run, layer, head) with NaN for the broken heads."""
        return np.where(self.broken, np.nan, values)


def attention_rows(view: SnapshotView) -> AttentionRows | NotApplicable:
    """The rows of every layer and head in float64, without padded queries; padded keys are not visible.

    Worked out once for each view; nobody writes into them.
    """
    if "attention rows" not in view.memo:
        view.memo["attention rows"] = _attention_rows(view)
    found: AttentionRows | NotApplicable = view.memo["attention rows"]
    return found


def _attention_rows(view: SnapshotView) -> AttentionRows | NotApplicable:
    layers = layer_probes(view.trace, "attention.weights")
    if not layers:
        return NO_ATTENTION
    n_queries, n_keys = layers[0].shape[-2:]
    n_all = len(view.probe.tokens)
    n_read = min(n_all, max(FEWEST_SEQUENCES, CELLS_PER_HEAD // (n_queries * n_keys)))
    weights = np.stack([layer[:, :n_read] for layer in layers], axis=1, dtype=np.float64)
    weights = np.moveaxis(weights, 3, 2)  # run layer head batch query key
    keys = view.probe.visible[:n_read]
    queries_are_tokens = n_queries == n_keys
    counted = keys if queries_are_tokens else np.repeat(keys.any(axis=1, keepdims=True), n_queries, axis=1)
    visible = np.broadcast_to(keys[:, None, :], (n_read, n_queries, n_keys))[counted]
    rows = weights[..., counted, :]
    finite: np.ndarray = np.isfinite(np.where(visible, rows, 0.0))
    broken = np.logical_not(finite.all(axis=(-2, -1)))
    rows = np.where(broken[..., None, None], 1.0, rows)
    own_key = None
    if queries_are_tokens:
        own_key = np.diagonal(weights, axis1=-2, axis2=-1)[..., counted]
    return AttentionRows(
        rows,
        visible,
        own_key,
        broken,
        f"{n_read} of {n_all} probe sequences",
        "exact" if n_read == n_all else "sampled",
    )
