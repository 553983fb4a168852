"""Lost seeds: from which step on a seed's loss is no number, so that its accuracy means nothing either."""

import numpy as np
from jaxtyping import Float64

from sandbox.store.run_reader import Run


def lost_at(run: Run, arm: str) -> Float64[np.ndarray, " seed"]:
    """The step of each seed's first held-out loss that is not finite, infinite where there is none.

    Batches are looked at since the last evaluation only: weights that are NaN stay so. The same seeds as
    `summarize` leaves out.
    """
    steps, losses = run.group_curve("test_loss", arm)
    recent_steps, recent = run.group_curve("loss", arm, since=int(steps[-1]) if len(steps) else -1)
    at = np.concatenate([steps, recent_steps])
    bad = ~np.isfinite(np.concatenate([losses, recent]))
    first = np.full(len(run.seeds), np.inf)
    for column in np.flatnonzero(bad.any(axis=0)):
        first[column] = at[bad[:, column].argmax()]
    return first
