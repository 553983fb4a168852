"""Jacobians of a snapshot's heads, with the bounds on them: measured once, for all who ask."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool

from sandbox.diagnostics.family import SnapshotView
from sandbox.diagnostics.heads import Head, softmax_heads
from sandbox.foundations.answers import NotApplicable
from sandbox.mathematics.jacobian_bounds import norm_bound, paper_expression, row_bound
from sandbox.mathematics.jacobian_condition import JacobianCondition, condition_of

MOST_OUTPUTS = 2048  # N d: beyond it J takes more than a gigabyte or minutes
BOUNDS = {"norm bound": norm_bound, "row bound": row_bound}


class Measured(NamedTuple):
    """One head on one sample."""

    place: tuple[int, int, int, int]
    """Run, layer, head, sample."""
    bounds: tuple[float, ...]
    """In the order of BOUNDS; infinite where one is not proved."""
    more_tokens_than_channels: bool
    condition: JacobianCondition | None
    """None where J is too large to be formed."""
    paper: float
    """Eq. 10 with kappa_+, which is no bound; NaN where J is too large."""


class Jacobians(NamedTuple):
    """All heads of a view on its first sequences."""

    shape: tuple[int, int, int, int]
    """Runs, layers, heads, samples."""
    broken: Bool[np.ndarray, "run layer head"]
    """Something that the head reads is not finite."""
    members: tuple[Measured, ...]
    """Every sound head on every sample."""


def measured_jacobians(view: SnapshotView, n_sequences: int) -> Jacobians | NotApplicable:
    """Condition and bounds of every head's J on the first sequences, worked out once for each view."""
    name = f"jacobians of {n_sequences}"
    if name not in view.memo:
        heads = softmax_heads(view, n_sequences)
        if isinstance(heads, NotApplicable):
            view.memo[name] = heads
        else:
            formed = size_of_j(view)[0] <= MOST_OUTPUTS
            members = tuple(_measured(head, formed) for head in heads.members)
            view.memo[name] = Jacobians(heads.shape, heads.broken, members)
    found: Jacobians | NotApplicable = view.memo[name]
    return found


def size_of_j(view: SnapshotView) -> tuple[int, int]:
    """Rows and columns of J for a sequence without padding."""
    d_model, d_head = view.projections["query"].shape[-2:]
    return view.probe.tokens.shape[1] * d_head, 3 * d_model * d_head


def _measured(head: Head, formed: bool) -> Measured:
    factors = head.factors()
    return Measured(
        place=head.place,
        bounds=tuple(bound(factors) for bound in BOUNDS.values()),
        more_tokens_than_channels=head.tokens.shape[0] > head.tokens.shape[1],
        condition=condition_of(factors) if formed else None,
        paper=paper_expression(factors) if formed else float("nan"),
    )
