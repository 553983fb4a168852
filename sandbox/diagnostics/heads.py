"""Heads of a snapshot: the tokens and matrices of every softmax head, ready for its Jacobian."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from sandbox.attention.skeleton import PROJECTIONS, MultiHeadAttention
from sandbox.diagnostics.family import SnapshotView
from sandbox.diagnostics.replay import module_of, parts_of, replay
from sandbox.foundations.answers import NotApplicable
from sandbox.mathematics.jacobian_factors import AttentionFactors, attention_factors, attention_weights

AGREEMENT = 1e-6  # float64 against float64: only another formula differs by more
NO_SELF_ATTENTION = NotApplicable(
    "This model has no self-attention with query, key and value matrices; its one learned query is a vector, "
    "so there is no such Jacobian."
)
OTHER_MECHANISM = NotApplicable(
    "The closed form holds for softmax attention over scaled products of queries and keys; this arm "
    "weighs its keys otherwise."
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
    """What the model multiplies its scores by, read off the recorded scores."""
    mask: Bool[np.ndarray, "token token"]
    """True where a query gives a key any weight."""

    def factors(self) -> AttentionFactors:
        """What its Jacobian and the bounds on it are built of."""
        return attention_factors(self.tokens, self.query, self.key, self.value, self.scale, self.mask)


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

    Recorded attention must agree with the closed form on every head and sample.
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
    if any(f"{name}.{part}" not in replayed[0] for name in layers for part in ("scores", "weights")):
        return OTHER_MECHANISM
    found = tuple(_members(view, layers, replayed, n_samples))
    members = tuple(member for member, _ in found)
    n_runs, n_layers, n_heads = view.projections["query"].shape[:3]
    broken = np.ones((n_runs, n_layers, n_heads), dtype=np.bool_)
    for member in members:
        broken[member.place[:3]] = False
    if any(apart > AGREEMENT for _, apart in found):
        return OTHER_MECHANISM
    return Heads((n_runs, n_layers, n_heads, n_samples), broken, members)


def _members(
    view: SnapshotView, layers: list[str], replayed: list[dict[str, np.ndarray]], n_samples: int
) -> Iterator[tuple[Head, float]]:
    """Every sound head on every sample, with how far its recorded weights are from the closed form's."""
    matrices = {name: view.projections[name].astype(np.float64) for name in PROJECTIONS}
    for run, found in enumerate(replayed):
        for layer, name in enumerate(layers):
            tokens, scores, weights = (found[f"{name}{part}"] for part in (":input", ".scores", ".weights"))
            for head in range(matrices["query"].shape[2]):
                query, key, value = (matrices[part][run, layer, head] for part in PROJECTIONS)
                if not all(np.isfinite(part).all() for part in (tokens, query, key, value)):
                    continue
                for sample in range(n_samples):
                    seen = view.probe.visible[sample]
                    block = np.ix_(seen, seen)
                    x, p = tokens[sample, seen], weights[sample, head][block]
                    mask = p > 0
                    scale = _scale((x @ query) @ (x @ key).T, scores[sample, head][block], mask)
                    apart = np.abs(p - attention_weights(x, query, key, scale, mask)).max()
                    place = (run, layer, head, sample)
                    yield Head(place, x, query, key, value, scale, mask), float(apart)


def _scale(products: np.ndarray, scores: np.ndarray, mask: np.ndarray) -> float:
    """The factor between products and scores where a key is visible, by least squares; 0 without products."""
    products, scores = products[mask], scores[mask]
    size = float(products @ products)
    return float(products @ scores) / size if size > 0 else 0.0
