"""Rows of attention of the probe batch: which queries count, and which keys they may see."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from sandbox.diagnostics.family import SnapshotView, layer_names
from sandbox.foundations.answers import NotApplicable

CELLS_PER_HEAD = 16384  # query-key cells read per head: all 64 sequences of 12 tokens, 16 of 32 tokens
FEWEST_SEQUENCES = 4

NO_ATTENTION = NotApplicable("This model records no attention weights, so there is nothing to measure.")


class TokenAttention(NamedTuple):
    """Token-by-token attention of every layer, from the first to the last."""

    weights: tuple[Float[np.ndarray, "run batch head query key"], ...]
    """NaN throughout in a layer that has none, such as one that attends between channels."""
    visible: Bool[np.ndarray, "layer batch query key"]
    """Which keys a query may see: not padding, and within the mechanism's reach."""
    note: str
    """Which layers have no such weights; empty where all have."""


class AttentionRows(NamedTuple):
    """One row per visible query, the same rows for every run, layer and head."""

    weights: Float[np.ndarray, "run layer head row key"]
    visible: Bool[np.ndarray, "row key"]
    """Keys that the query may see in some layer; weights are 0 where a layer hides one."""
    n_visible: Int[np.ndarray, "layer row"]
    """How many keys the query may see in each layer."""
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


def attention_rows(view: SnapshotView, *, whole: bool = False) -> AttentionRows | NotApplicable:
    """The rows of every layer and head in float64, without padded queries; padded keys are not visible.

    Of the first sequences, about `CELLS_PER_HEAD` cells, or of the `whole` probe batch. Worked out once for
    each view; nobody writes into them.
    """
    name = "all attention rows" if whole else "attention rows"
    if name not in view.memo:
        view.memo[name] = _attention_rows(view, whole)
    found: AttentionRows | NotApplicable = view.memo[name]
    return found


def token_attention(view: SnapshotView) -> TokenAttention | NotApplicable:
    """What every layer recorded, or why no layer has rows of weights over tokens."""
    places = [name.removesuffix("query") for name in layer_names(view.trace, "attention.query")] or [
        name.removesuffix("weights") for name in layer_names(view.trace, "attention.weights")
    ]
    found = [view.trace.get(f"{place}weights") for place in places]
    present = [weights for weights in found if weights is not None]
    if not present:
        mechanism = getattr(getattr(view.setting, "model", None), "mechanism", None)
        reason = getattr(mechanism, "no_token_weights", "")
        return NotApplicable(reason) if reason else NO_ATTENTION
    n_queries = present[0].shape[-2]
    keys = np.repeat(view.probe.visible[:, None, :], n_queries, axis=1)  # batch query key
    seen = [
        view.trace[f"{place}mechanism.seen"][0] if f"{place}mechanism.seen" in view.trace else keys
        for place in places
    ]
    absent = [layer + 1 for layer, weights in enumerate(found) if weights is None]
    anywhere = np.any([s for s, weights in zip(seen, found, strict=True) if weights is not None], axis=0)
    return TokenAttention(
        tuple(np.full_like(present[0], np.nan) if weights is None else weights for weights in found),
        np.stack([anywhere if w is None else s for s, w in zip(seen, found, strict=True)]),
        f"no token weights in layer {', '.join(map(str, absent))}" if absent else "",
    )


def _attention_rows(view: SnapshotView, whole: bool) -> AttentionRows | NotApplicable:
    layers = token_attention(view)
    if isinstance(layers, NotApplicable):
        return layers
    n_queries, n_keys = layers.weights[0].shape[-2:]
    n_all = len(view.probe.tokens)
    affordable = max(FEWEST_SEQUENCES, CELLS_PER_HEAD // (n_queries * n_keys))
    n_read = n_all if whole else min(n_all, affordable)
    weights = np.stack([layer[:, :n_read] for layer in layers.weights], axis=1, dtype=np.float64)
    weights = np.moveaxis(weights, 3, 2)  # run layer head batch query key
    keys = view.probe.visible[:n_read]
    queries_are_tokens = n_queries == n_keys
    counted = keys if queries_are_tokens else np.repeat(keys.any(axis=1, keepdims=True), n_queries, axis=1)
    seen = layers.visible[:, :n_read][:, counted]  # layer row key
    visible: np.ndarray = np.asarray(seen.any(axis=0))
    rows = weights[..., counted, :]
    finite: np.ndarray = np.isfinite(np.where(visible, rows, 0.0))
    broken = np.logical_not(finite.all(axis=(-2, -1)))
    rows = np.where(broken[..., None, None], 1.0, rows)
    own_key = None
    if queries_are_tokens:
        own_key = np.diagonal(weights, axis1=-2, axis2=-1)[..., counted]
    sample = f"{n_read} of {n_all} probe sequences"
    return AttentionRows(
        rows,
        visible,
        seen.sum(axis=-1),
        own_key,
        broken,
        f"{sample}; {layers.note}" if layers.note else sample,
        "exact" if n_read == n_all else "sampled",
    )
