"""Heads of a snapshot: the tokens and matrices of every softmax head, ready for its Jacobian."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from sandbox.attention.skeleton import PROJECTIONS, MultiHeadAttention
from sandbox.diagnostics.family import SnapshotView
from sandbox.diagnostics.replay import module_of, parts_of, replay
from sandbox.foundations.answers import NotApplicable
from sandbox.mathematics.jacobian_factors import attention_weights

AGREEMENT = 1e-6  # float64 against float64: only another formula differs by more
NO_SELF_ATTENTION = NotApplicable(
    "This model has no self-attention with query, key and value matrices; its one learned query is a vector, "
    "so there is no such Jacobian."
)
OTHER_MECHANISM = NotApplicable(
    "The closed form holds for softmax attention with scale 1/sqrt(d_head); this arm weighs keys otherwise."
)


class Head(NamedTuple):
    """One head on one sequence: its visible tokens as it reads them, and its matrices W + C."""

    place: tuple[int, int, int, int]
    """Run, layer, head, sample."""
    tokens: Float[np.ndarray, "token model"]
    query: Float[np.ndarray, "model head"]
    key: Float[np.ndarray, "model head"]
    value: Float[np.ndarray, "model head"]
    scale: float


class Heads(NamedTuple):
    """All heads of a view on its first sequences."""

    shape: tuple[int, int, int, int]
    """Runs, layers, heads, samples."""
    broken: np.ndarray
    """(run, layer, head) bool: something that it reads is not finite."""
    members: tuple[Head, ...]
    """Every head on every sample, broken ones left out."""


def softmax_heads(view: SnapshotView, n_sequences: int) -> Heads | NotApplicable:
    """The heads of every run, layer and sample; NotApplicable where the closed form does not hold.

    The recorded attention of the first sound head must agree with the closed form's.
    """
    module = module_of(view)
    if isinstance(module, NotApplicable):
        return module
    layers = [name for name, _ in parts_of(module, MultiHeadAttention)]
    if not layers or any(name not in view.projections for name in PROJECTIONS):
        return NO_SELF_ATTENTION
    n_samples = min(n_sequences, len(view.probe.tokens))
    replayed = replay(view, n_samples)
    if isinstance(replayed, NotApplicable):
        return replayed
    members = tuple(_members(view, layers, replayed, n_samples))
    n_runs, n_layers, n_heads = view.projections["query"].shape[:3]
    broken = np.ones((n_runs, n_layers, n_heads), dtype=np.bool_)
    for member in members:
        broken[member.place[:3]] = False
    for member in members[:1]:
        run, layer, head, sample = member.place
        weights = replayed[run][f"{layers[layer]}.weights"][sample, head]
        seen = view.probe.visible[sample]
        closed = attention_weights(member.tokens, member.query, member.key, member.scale)
        if np.abs(weights[np.ix_(seen, seen)] - closed).max() > AGREEMENT:
            return OTHER_MECHANISM
    return Heads((n_runs, n_layers, n_heads, n_samples), broken, members)


def _members(
    view: SnapshotView, layers: list[str], replayed: list[dict[str, np.ndarray]], n_samples: int
) -> Iterator[Head]:
    matrices = {name: view.projections[name].astype(np.float64) for name in PROJECTIONS}
    n_heads, d_head = matrices["query"].shape[2], matrices["query"].shape[-1]
    for run, found in enumerate(replayed):
        for layer, name in enumerate(layers):
            tokens = found[f"{name}:input"]
            for head in range(n_heads):
                query, key, value = (matrices[part][run, layer, head] for part in PROJECTIONS)
                if not np.isfinite(tokens).all() or not all(
                    np.isfinite(part).all() for part in (query, key, value)
                ):
                    continue
                for sample in range(n_samples):
                    seen = tokens[sample, view.probe.visible[sample]]
                    yield Head((run, layer, head, sample), seen, query, key, value, float(d_head) ** -0.5)
