"""Token trajectories: where tokens at their positions stand in the plane, step after step."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.diagnostics.fixed_plane import CHOICE, Points, fit_plane, in_plane
from sandbox.diagnostics.probe import Probe
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import Answer

MOST_TOKEN_POINTS = 64  # above it a token is drawn once, at the mean of its positions


@Diagnostic.variants.register("token trajectories")
@dataclass(frozen=True, kw_only=True)
class TokenTrajectories(Diagnostic):
    """Embeddings of tokens at their positions as the first layer sees them, in two fixed dimensions."""

    title: ClassVar[str] = "Token trajectories"
    sentence: ClassVar[str] = (
        "Every point is a token at its position; what the task treats alike moves together."
    )
    equation: ClassVar[str] = r"e_t = E[x_t] + P[t],\quad y = B\,(e - c)"
    unit: ClassVar[str] = "embedding units"
    source: ClassVar[str] = "Odonnat, Bouaziz & Cabannes, arXiv 2410.24050 (embedding pictures)"
    certainty: ClassVar[str] = "A: what is drawn at d = 2; C: the plane for larger widths is our choice"
    our_reading: ClassVar[str] = (
        f"Tokens are drawn as they enter the first layer (normalized in the visual model). {CHOICE}"
    )

    def read(self, view: SnapshotView) -> Answer:
        """Points of every run; fits the plane into `view.basis` where that has none yet."""
        return in_plane(view, "token trajectories", _points(view))

    def fit(self, view: SnapshotView) -> dict[str, np.ndarray] | NotApplicable:
        """The plane to keep in the `basis` of every later view, and of the other arms' views."""
        return fit_plane(view, "token trajectories", _points(view))


def _points(view: SnapshotView) -> Points | NotApplicable:
    embedded = view.trace.get("embedding")
    if embedded is None:
        return NotApplicable("This model records no token embedding, so there is nothing to follow.")
    averages, labels, groups = _token_points(view.probe)
    flat = embedded.reshape(embedded.shape[0], -1, embedded.shape[-1]).astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        values = averages @ flat[:, view.probe.visible.ravel()]
    return Points(values=values, labels=tuple(labels), groups=tuple(groups))


def _token_points(probe: Probe) -> tuple[Float[np.ndarray, "point seen"], list[str], list[str]]:
    """Which visible cells of the probe batch each token point averages; cells of one point are equal.

    One point per (token, position) that occurs, or per token where those would be too many.
    """
    token = probe.tokens[probe.visible]
    position = np.nonzero(probe.visible)[1]
    placed = len(np.unique(np.stack([position, token]), axis=1).T) <= MOST_TOKEN_POINTS
    keys = np.stack([position if placed else np.zeros_like(position), token])
    points, owner = np.unique(keys, axis=1, return_inverse=True)
    averages = np.zeros((points.shape[1], len(token)))
    averages[owner.ravel(), np.arange(len(token))] = 1.0
    averages /= averages.sum(axis=1, keepdims=True)
    labels, groups = [], []
    for place, kind in points.T:
        text = probe.token_labels[kind]
        labels.append(f"{text} @ {place + 1}" if placed else text)
        groups.append(_token_group(text, int(place), probe.n_prefix if placed else None))
    return averages, labels, groups


def _token_group(text: str, place: int, n_prefix: int | None) -> str:
    if n_prefix is not None:
        return "prefix token" if place < n_prefix else "other token"
    return "number" if text.isdigit() else "operator"
