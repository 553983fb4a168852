"""Token trajectories: where token and sequence embeddings stand in the plane, step after step."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.diagnostics.probe import Probe
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.errors import InvalidData
from sandbox.foundations.readings import Answer, Provenance, Trajectory

SEQUENCE_EMBEDDINGS = ("readout", "xi")
MOST_TOKEN_POINTS = 64  # above it a token is drawn once, at the mean of its positions
COMPONENTS, CENTRE, STEP = "trajectories/components", "trajectories/centre", "trajectories/step"


@dataclass(frozen=True, kw_only=True)
class _Points:
    values: Float[np.ndarray, "run point d_model"]
    labels: tuple[str, ...]
    groups: tuple[str, ...]


@Diagnostic.variants.register("trajectories")
@dataclass(frozen=True, kw_only=True)
class Trajectories(Diagnostic):
    """Embeddings of tokens at their positions and of the probe sequences, in two fixed dimensions."""

    title: ClassVar[str] = "Token trajectories"
    sentence: ClassVar[str] = (
        "Every point is a token at its position, or a whole sequence coloured by its class; learning shows "
        "as classes that draw apart."
    )
    equation: ClassVar[str] = r"e_t = E[x_t] + P[t],\quad y = B\,(e - c)"
    unit: ClassVar[str] = "embedding units"
    source: ClassVar[str] = "Odonnat, Bouaziz & Cabannes, arXiv 2410.24050 (embedding pictures)"
    certainty: ClassVar[str] = "A: what is drawn at d = 2; C: the plane for larger widths is our choice"
    our_reading: ClassVar[str] = (
        "Tokens are drawn as they enter the first layer (normalized in the visual model), sequences as the "
        "classifier reads them. Two dimensions are drawn as they are; otherwise one PCA over all seeds "
        "gives each seed two fixed axes B about its mean c, which show the same pattern of points in every "
        "seed; it is fitted once and never again, so that nothing flips between frames."
    )

    def read(self, view: SnapshotView) -> Answer:
        """Points of every run; fits the basis into `view.basis` where that has none yet."""
        found = _points(view)
        if isinstance(found, NotApplicable):
            return found
        if found.values.shape[-1] == 2:
            return Trajectory(
                points=found.values.astype(np.float32),
                labels=found.labels,
                groups=found.groups,
                provenance=Provenance(
                    precision="float32",
                    method="as it is: the model is two-dimensional",
                    note=view.probe.source,
                ),
            )
        if COMPONENTS not in view.basis:
            fitted = self.fit(view)
            if isinstance(fitted, NotApplicable):
                return fitted
            view.basis.update(fitted)
        components, centre = view.basis[COMPONENTS], view.basis[CENTRE]
        if centre.shape != (found.values.shape[0], found.values.shape[2]):
            raise InvalidData(
                f"The kept basis has a centre of shape {centre.shape}, but the points have shape "
                f"{found.values.shape}; a basis belongs to the seeds and the width it was fitted on."
            )
        with np.errstate(invalid="ignore", over="ignore"):  # a diverged seed stays NaN or infinite
            points = ((found.values - centre[:, None, :]) @ components.swapaxes(1, 2)).astype(np.float32)
        return Trajectory(
            points=points,
            labels=found.labels,
            groups=found.groups,
            explained_variance=_explained(found.values, components),
            provenance=Provenance(
                precision="float64, stored as float32",
                method=f"one fixed PCA basis, fitted at step {int(view.basis[STEP])} on all seeds",
                sample_size=found.values.shape[1],
                note=f"{view.probe.source}; explained variance is the share of the points' present variance",
            ),
        )

    def fit(self, view: SnapshotView) -> dict[str, np.ndarray] | NotApplicable:
        """One PCA of all seeds, to keep in the `basis` of every later view, and of the other arms' views.

        The point patterns of all finite seeds, each centred and scaled to unit variance, stand side by side
        as columns (point, run x d_model), so that an axis means the same pattern of points in every seed
        although the seeds' coordinates are unrelated; a seed's two axes are the nearest orthonormal pair.
        Returns components (run, 2, d_model), centre (run, d_model) and step ().
        """
        found = _points(view)
        if isinstance(found, NotApplicable):
            return found
        finite = np.isfinite(found.values).all(axis=(1, 2), keepdims=True)
        if not finite.any():
            return NotApplicable("Every seed had diverged before a plane could be fitted.")
        from sklearn.decomposition import PCA  # imported where it is needed: it takes over a second

        values = np.where(finite, found.values, 0.0)
        centre = values.mean(axis=1, keepdims=True)
        spread = np.sqrt(((values - centre) ** 2).sum(axis=(1, 2), keepdims=True))
        scaled = (values - centre) / np.where(spread > 0, spread, 1.0)
        n_runs, n_points, width = scaled.shape
        side_by_side = scaled.swapaxes(0, 1).reshape(n_points, n_runs * width)
        axes = PCA(n_components=2, svd_solver="full").fit(side_by_side).components_
        left, _, right = np.linalg.svd(axes.reshape(2, n_runs, width).swapaxes(0, 1), full_matrices=False)
        return {COMPONENTS: left @ right, CENTRE: centre[:, 0], STEP: np.array(view.step)}


def _points(view: SnapshotView) -> _Points | NotApplicable:
    embedded = view.trace.get("embedding")
    if embedded is None:
        return NotApplicable("This model records no token embedding, so there is nothing to follow.")
    if embedded.shape[-1] < 2:
        return NotApplicable("The embedding has one dimension; trajectories need at least two.")
    averages, labels, groups = _token_points(view.probe)
    flat = embedded.reshape(embedded.shape[0], -1, embedded.shape[-1]).astype(np.float64)
    seen = view.probe.visible.ravel()
    with np.errstate(invalid="ignore", over="ignore"):
        blocks = [averages @ flat[:, seen]]
    for name in SEQUENCE_EMBEDDINGS:
        if name in view.trace:
            blocks.append(view.trace[name].astype(np.float64))
            labels += [" ".join(view.probe.sequence(row)) for row in range(len(view.probe.tokens))]
            groups += [f"class {label}" for label in view.probe.labels]
    values = np.concatenate(blocks, axis=1)
    values = np.where(np.isfinite(values), values, np.nan)
    return _Points(values=values, labels=tuple(labels), groups=tuple(groups))


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


def _explained(
    values: Float[np.ndarray, "run point d_model"], components: Float[np.ndarray, "run 2 d_model"]
) -> Float[np.ndarray, "run 2"]:
    """Share of each run's variance about its own mean along each axis; NaN where there is none."""
    centred = values - values.mean(axis=1, keepdims=True)
    total = (centred**2).sum(axis=(1, 2))
    along = ((centred @ components.swapaxes(1, 2)) ** 2).sum(axis=1)
    return along / np.where(total > 0, total, np.nan)[:, None]
