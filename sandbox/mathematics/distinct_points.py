"""Distinct points: how many clumps a cloud falls into when points closer than a radius are one."""

import numpy as np
from jaxtyping import Int, Real


def count_clumps(
    points: Real[np.ndarray, "*runs point channel"], relative_radius: float
) -> Int[np.ndarray, "*runs"]:
    """Number of groups of points linked by steps of at most `relative_radius` times the cloud's RMS radius.

    Single linkage: two points are in one clump if a chain of such steps joins them. A cloud of one point is
    one clump; -1 where a coordinate is not finite. (our measure of the clusters of 2410.24050)
    """
    cloud = np.asarray(points, dtype=np.float64)
    finite = np.asarray(np.isfinite(cloud).all(axis=(-2, -1)))
    cloud = np.where(finite[..., None, None], cloud, 0.0)
    cloud = cloud - cloud.mean(axis=-2, keepdims=True)
    radius = np.sqrt((cloud**2).sum(axis=-1).mean(axis=-1))[..., None, None]
    squares = (cloud**2).sum(axis=-1)
    apart = squares[..., :, None] + squares[..., None, :] - 2 * cloud @ np.swapaxes(cloud, -1, -2)
    # Cancellation leaves about 1e-14 of the squared radius between equal points; far below any sane radius.
    linked = apart <= (relative_radius * radius) ** 2
    n_points = cloud.shape[-2]
    reach = 1
    while reach < n_points:  # chains of doubled length
        linked = (linked.astype(np.float32) @ linked.astype(np.float32)) > 0
        reach *= 2
    leaders = linked.argmax(axis=-1) == np.arange(n_points)  # the first point of each clump
    return np.where(finite, leaders.sum(axis=-1), -1)
