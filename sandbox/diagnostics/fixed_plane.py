"""Fixed plane: one pair of axes per run, fitted once, so that pictures of embeddings never flip."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from sandbox.diagnostics.family import SnapshotView
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.errors import InvalidData
from sandbox.foundations.readings import Answer, Provenance, Trajectory

CHOICE = (
    "Two dimensions are drawn as they are; otherwise one PCA over all seeds gives each seed two fixed axes B "
    "about its mean c, which show the same pattern of points in every seed; it is fitted once for these "
    "points alone and never again, so that nothing flips between frames."
)


@dataclass(frozen=True, kw_only=True)
class Points:
    """What is to be seen in one plane, before it is projected."""

    values: Float[np.ndarray, "run point d_model"]
    labels: tuple[str, ...]
    groups: tuple[str, ...]


def in_plane(view: SnapshotView, name: str, found: Points | NotApplicable) -> Answer:
    """The points in the plane called `name`; fits that into `view.basis` where it is not there yet."""
    found = _drawable(found)
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
    if f"{name}/components" not in view.basis:
        fitted = fit_plane(view, name, found)
        if isinstance(fitted, NotApplicable):
            return fitted
        view.basis.update(fitted)
    components, centre = view.basis[f"{name}/components"], view.basis[f"{name}/centre"]
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
            method=f"one fixed PCA basis, fitted at step {int(view.basis[f'{name}/step'])} on all seeds",
            sample_size=found.values.shape[1],
            note=f"{view.probe.source}; explained variance is the share of the points' present variance",
        ),
    )


def fit_plane(
    view: SnapshotView, name: str, found: Points | NotApplicable
) -> dict[str, np.ndarray] | NotApplicable:
    """One PCA of all seeds, to keep in the `basis` of every later view, and of the other arms' views.

    The point patterns of all finite seeds, each centred and scaled to unit variance, stand side by side
    as columns (point, run x d_model), so that an axis means the same pattern of points in every seed
    although the seeds' coordinates are unrelated; a seed's two axes are the nearest orthonormal pair.
    Returns `name` with components (run, 2, d_model), centre (run, d_model) and step ().
    """
    found = _drawable(found)
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
    return {
        f"{name}/components": left @ right,
        f"{name}/centre": centre[:, 0],
        f"{name}/step": np.array(view.step),
    }


def _drawable(found: Points | NotApplicable) -> Points | NotApplicable:
    if isinstance(found, NotApplicable):
        return found
    if found.values.shape[-1] < 2:
        return NotApplicable("The embedding has one dimension; trajectories need at least two.")
    values = np.where(np.isfinite(found.values), found.values, np.nan)
    return Points(values=values, labels=found.labels, groups=found.groups)


def _explained(
    values: Float[np.ndarray, "run point d_model"], components: Float[np.ndarray, "run 2 d_model"]
) -> Float[np.ndarray, "run 2"]:
    """Share of each run's variance about its own mean along each axis; NaN where there is none."""
    centred = values - values.mean(axis=1, keepdims=True)
    total = (centred**2).sum(axis=(1, 2))
    along = ((centred @ components.swapaxes(1, 2)) ** 2).sum(axis=1)
    return along / np.where(total > 0, total, np.nan)[:, None]
