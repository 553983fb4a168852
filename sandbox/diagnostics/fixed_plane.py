"""Fixed plane: one pair of axes per run, fitted once, so that pictures of embeddings never flip."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from sandbox.diagnostics.family import SnapshotView
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.errors import InvalidData
from sandbox.foundations.readings import Answer, Provenance, Trajectory

CHOICE = (
    "Two dimensions are drawn as they are; otherwise each seed has two fixed axes B about its mean c, which "
    "show the same pattern of points in every seed; they are fitted once for these points alone and never "
    "again, so that nothing flips between frames."
)


@dataclass(frozen=True, kw_only=True)
class Points:
    """What is to be seen in one plane, before it is projected."""

    values: Float[np.ndarray, "run point d_model"]
    labels: tuple[str, ...]
    groups: tuple[str, ...]
    read_by: Float[np.ndarray, "run class d_model"] | None = None
    """The matrix that reads classes off the points, where one does."""


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
            method=f"{_words(found)}, fitted at step {int(view.basis[f'{name}/step'])} on all seeds",
            sample_size=found.values.shape[1],
            note=f"{view.probe.source}; explained variance is the share of the points' present variance",
        ),
    )


def fit_plane(
    view: SnapshotView, name: str, found: Points | NotApplicable
) -> dict[str, np.ndarray] | NotApplicable:
    """Two axes for each seed, to keep in the `basis` of every later view, and of the other arms' views.

    Where a classifier reads the points, the axes are what it reads at this step, its classes laid on a
    circle: training moves points along them, while the largest variance at the start soon means nothing.
    What is left over, or everything where no classifier reads the points, is one PCA of all seeds: the
    point patterns of all finite seeds, each centred and scaled to unit variance, stand side by side as
    columns (point, run x d_model), so that an axis means the same pattern of points in every seed
    although the seeds' coordinates are unrelated; a seed's axes are the nearest orthonormal ones.
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
    given = _read_axes(found)
    scaled = scaled - (scaled @ given.swapaxes(1, 2)) @ given
    missing = 2 - given.shape[1]
    if missing:
        side_by_side = scaled.swapaxes(0, 1).reshape(n_points, n_runs * width)
        axes = PCA(n_components=missing, svd_solver="full").fit(side_by_side).components_
        axes = axes.reshape(missing, n_runs, width).swapaxes(0, 1)
        left, _, right = np.linalg.svd(axes, full_matrices=False)
        given = np.concatenate([given, left @ right], axis=1)
    return {
        f"{name}/components": given,
        f"{name}/centre": centre[:, 0],
        f"{name}/step": np.array(view.step),
    }


def _drawable(found: Points | NotApplicable) -> Points | NotApplicable:
    if isinstance(found, NotApplicable):
        return found
    if found.values.shape[-1] < 2:
        return NotApplicable("The embedding has one dimension; trajectories need at least two.")
    values = np.where(np.isfinite(found.values), found.values, np.nan)
    return replace(found, values=values)


def _read_axes(found: Points) -> Float[np.ndarray, "run axis d_model"]:
    """At most two orthonormal directions that a classifier reads, its classes laid on a circle."""
    n_runs, _, width = found.values.shape
    if found.read_by is None or not np.isfinite(found.read_by).all():
        return np.zeros((n_runs, 0, width))
    n_classes = found.read_by.shape[1]
    turn = 2 * np.pi * np.arange(n_classes) / n_classes
    circle = np.stack([np.cos(turn), np.sin(turn)])[: min(2, n_classes - 1)]
    axes: list[np.ndarray] = []
    for direction in circle:
        along = direction @ found.read_by.astype(np.float64)  # run d_model
        for axis in axes:
            along = along - (along * axis).sum(axis=1, keepdims=True) * axis
        length = np.linalg.norm(along, axis=1, keepdims=True)
        if (length == 0).any():
            break
        axes.append(along / length)
    return np.stack(axes, axis=1) if axes else np.zeros((n_runs, 0, width))


def _words(found: Points) -> str:
    if found.read_by is None:
        return "one fixed PCA basis"
    if found.read_by.shape[1] == 2:
        return "one fixed plane: what the classifier reads and the largest variance beside it"
    return "one fixed plane: what the classifier reads, its classes on a circle"


def _explained(
    values: Float[np.ndarray, "run point d_model"], components: Float[np.ndarray, "run 2 d_model"]
) -> Float[np.ndarray, "run 2"]:
    """Share of each run's variance about its own mean along each axis; NaN where there is none."""
    centred = values - values.mean(axis=1, keepdims=True)
    total = (centred**2).sum(axis=(1, 2))
    along = ((centred @ components.swapaxes(1, 2)) ** 2).sum(axis=1)
    return along / np.where(total > 0, total, np.nan)[:, None]
