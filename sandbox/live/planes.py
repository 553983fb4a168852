"""Planes: the one plane of a run in which points of more than two dimensions stand, whatever arm or seed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from sandbox.live.feed import Feed
from sandbox.live.visual_layers import SPACE, look

DIGITS = 6


@dataclass(frozen=True, eq=False)
class Plane:
    """Two orthonormal axes through a centre."""

    centre: Float[np.ndarray, " d"]
    axes: Float[np.ndarray, "2 d"]
    step: int
    """Whose points it was laid through."""

    def place(self, points: Float[np.ndarray, "*point d"]) -> Float[np.ndarray, "*point 2"]:
        """Where points of the space stand in the plane."""
        return np.asarray((points - self.centre) @ self.axes.T)

    def plain(self) -> dict[str, Any]:
        """JSON values."""
        rounded = (np.round(part, DIGITS).tolist() for part in (self.centre, self.axes))
        return dict(zip(("centre", "axes"), rounded, strict=True)) | {"step": self.step}


def principal_plane(points: Float[np.ndarray, "point d"], step: int) -> Plane:
    """The plane of the two largest principal axes; an axis' largest entry is positive, so that none flips."""
    centre = points.mean(axis=0)
    axes = np.linalg.svd(points - centre, full_matrices=False)[2]
    axes = np.concatenate([axes, np.eye(points.shape[1])])[:2]  # fewer points than axes leave some open
    largest = np.abs(axes).argmax(axis=1)
    return Plane(centre, axes * np.sign(axes[np.arange(2), largest])[:, None], step)


def planes_of(feed: Feed, kind: str, arm: int, meta: dict[str, Any]) -> dict[str, Plane]:
    """The plane of each space of a small model, from all seeds of `arm` at its first step; {} if it is flat.

    One plane for the whole run: what moves in a picture is then the model and never the plane.
    """
    steps = feed.frame_steps(arm, kind, "values", -1)[:1]
    frames = feed.frames(arm, kind, "values", steps)
    if not frames or meta["shapes"][0][1] == 2:
        return {}
    step, values = frames[0]
    numbers = values.astype(np.float64)
    finite = np.isfinite(numbers).all(axis=1)
    if not finite.any():
        return {}
    points = look(numbers[finite], meta).points
    spaces = dict.fromkeys(SPACE.values())
    return {name: principal_plane(points[name].reshape(-1, points[name].shape[-1]), step) for name in spaces}
