"""Phases of training: plateau, clustering, fitting, each named by a rule over two curves."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int, Real

from sandbox.foundations.errors import InvalidData

PLATEAU, CLUSTERING, FITTING, UNKNOWN = "plateau", "clustering", "fitting", "unknown"
CHANGING = "changing"
PATIENCE = 3
LEARNS = 0.9  # share of the chance loss below which something about the classes has been learned
SEPARATES = 0.5  # share of the chance loss below which the classes are being separated
MERGED = 0.5  # share of its start to which within / total must fall for embeddings to count as clustered
RULES = {
    PLATEAU: f"the loss is at least {LEARNS:.0%} of the chance loss and the embeddings have not clustered",
    CLUSTERING: (
        f"within / total has fallen to {MERGED:.0%} of its start or less, while the loss is still at least "
        f"{SEPARATES:.0%} of the chance loss"
    ),
    FITTING: (
        f"the loss is below {SEPARATES:.0%} of the chance loss, or below {LEARNS:.0%} of it without clusters"
    ),
    CHANGING: f"the latest snapshots say otherwise; {PATIENCE} in a row name a phase",
    UNKNOWN: "the loss or the clustering is not a finite number here",
}


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A stretch of steps with one name; `rule` is the sentence that names it."""

    name: str
    first: int
    last: int

    @property
    def rule(self) -> str:
        return RULES[self.name]


def name_phases(
    steps: Int[np.ndarray, " step"],
    losses: Real[np.ndarray, " step"],
    within: Real[np.ndarray, " step"],
    chance_loss: float,
    patience: int = PATIENCE,
    *,
    ended: bool = False,
) -> list[Phase]:
    """Phases of one run in order, from its loss (nats) and within / total of xi at the same steps.

    A change of phase counts once it has lasted `patience` points, so that noise names nothing. The last
    points before that, where they all say otherwise, are `changing`, or what they say where the run has
    `ended`. The phases cover all steps without a gap; points before the first known one, where no loss is
    measured yet, belong to the phase that follows. Raises InvalidData where the chance loss or the patience
    is not positive.
    (the two stages are those of 2410.24050; the thresholds are our reading)
    """
    steps, losses, within = np.asarray(steps), np.asarray(losses, float), np.asarray(within, float)
    if not chance_loss > 0 or patience < 1:
        raise InvalidData(
            f"The chance loss is {chance_loss} and the patience {patience}; both must be positive."
        )
    if not len(steps):
        return []
    names = _point_names(losses, within, chance_loss)
    begun = next((place for place, name in enumerate(names) if name != UNKNOWN), 0)
    names[:begun] = [names[begun]] * begun
    edges = [0]
    current = names[0]
    for place, name in enumerate(names):
        if name != current and names[place : place + patience] == [name] * patience:
            edges.append(place)
            current = name
    rest = len(names) - next((n for n, name in enumerate(reversed(names)) if name == current), len(names))
    if edges[-1] < rest < len(names):
        edges.append(rest)
        if not ended or len(set(names[rest:])) > 1:
            names[rest:] = [CHANGING] * (len(names) - rest)
    stops = [*edges[1:], len(names)]
    return [
        Phase(name=names[a], first=int(steps[a]), last=int(steps[b - 1]))
        for a, b in zip(edges, stops, strict=True)
    ]


def _point_names(losses: np.ndarray, within: np.ndarray, chance_loss: float) -> list[str]:
    known = np.isfinite(within)
    start = within[known][0] if known.any() else np.nan
    clustered = within <= MERGED * start
    names = np.select(
        [
            ~np.isfinite(losses) | ~known,
            losses < SEPARATES * chance_loss,
            clustered,
            losses < LEARNS * chance_loss,
        ],
        [UNKNOWN, FITTING, CLUSTERING, FITTING],
        default=PLATEAU,
    )
    return [str(name) for name in names]
