"""Loss spikes: where a loss curve jumps above its own recent level, and what stood out just before."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int, Real

from sandbox.foundations.errors import InvalidData

WINDOW = 50
GAP = 5
"""Losses back at their level between two rises that are still one spike."""
MEDIAN_TO_SIGMA = 1.4826  # a normal sample's standard deviation over its median absolute deviation
RULE = (
    "a spike is a loss above the median of the last {window} finite losses by more than {sigmas:g} robust "
    "standard deviations, more than {rise:.0%} of that median and more than {least:g} nats; rises a few "
    "losses apart are one"
)


@dataclass(frozen=True, kw_only=True)
class Spike:
    """A run of consecutive losses above the recent level."""

    first: int
    """Step at which it begins."""
    peak: int
    last: int
    height: float
    """The largest loss, in nats."""
    base: float
    """The level it rose from: the median of the window before `first`."""


@dataclass(frozen=True, kw_only=True)
class Clue:
    """A quantity around a spike: its median before, and its most extreme value up to the peak."""

    name: str
    usual: float
    extreme: float
    step: int
    """Where the extreme value stands."""

    @property
    def ratio(self) -> float:
        """extreme / usual; how far it left its usual level, NaN where that level is 0."""
        return self.extreme / self.usual if self.usual else float("nan")


def find_spikes(
    steps: Int[np.ndarray, " step"],
    losses: Real[np.ndarray, " step"],
    window: int = WINDOW,
    sigmas: float = 8.0,
    rise: float = 0.2,
    least: float = 0.001,
) -> list[Spike]:
    """Spikes of one run's loss curve, in order; see RULE. Losses that are not finite are left out.

    The first `window` finite losses only set the level. The level never looks ahead, so a spike found while
    training stays one; what is above the level is kept out of it. Raises InvalidData for a window
    below 5. (the rule is our choice; spikes: 2410.24050)
    """
    steps, losses = np.asarray(steps), np.asarray(losses, dtype=np.float64)
    if window < 5:
        raise InvalidData(f"Spikes need a window of at least 5 losses to know their level, not {window}.")
    finite = np.isfinite(losses)
    steps, losses = steps[finite], losses[finite]
    flagged, level = _above_level(losses, window, sigmas, rise, least)
    spikes = []
    for start, stop in _joined(_stretches(flagged)):
        peak = start + int(losses[start:stop].argmax())
        spikes.append(
            Spike(
                first=int(steps[start]),
                peak=int(steps[peak]),
                last=int(steps[stop - 1]),
                height=float(losses[peak]),
                base=float(level[start]),
            )
        )
    return spikes


def clues(
    spike: Spike,
    curves: Mapping[str, tuple[Int[np.ndarray, " step"], Real[np.ndarray, " step"]]],
    falling: tuple[str, ...] = (),
    before: int = WINDOW,
) -> list[Clue]:
    """For each recorded curve, how far it left its usual level within `before` steps up to the spike's peak.

    `falling` names the curves whose small values are the telling ones, such as min |xi|. The usual level is
    the median over the earlier points, back to four times `before`. Curves without a finite point on both
    sides are left out; sorted from the most to the least unusual.
    """
    found = []
    for name, (steps, values) in curves.items():
        steps, values = np.asarray(steps), np.asarray(values, dtype=np.float64)
        known = np.isfinite(values)
        near = known & (steps > spike.first - before) & (steps <= spike.peak)
        early = known & (steps <= spike.first - before) & (steps > spike.first - 5 * before)
        if not near.any() or not early.any():
            continue
        pick = np.argmin if name in falling else np.argmax
        place = np.flatnonzero(near)[pick(values[near])]
        found.append(
            Clue(
                name=name,
                usual=float(np.median(values[early])),
                extreme=float(values[place]),
                step=int(steps[place]),
            )
        )
    return sorted(found, key=_unusual, reverse=True)


def _unusual(clue: Clue) -> float:
    ratio = abs(clue.ratio)
    return float(abs(np.log(ratio))) if ratio > 0 and np.isfinite(ratio) else 0.0


def _above_level(
    losses: np.ndarray, window: int, sigmas: float, rise: float, least: float
) -> tuple[np.ndarray, np.ndarray]:
    """Which losses are above their level, and the level; the level looks at the unflagged losses before."""
    flagged, level = np.zeros(len(losses), dtype=np.bool_), np.full(len(losses), np.nan)
    recent = losses[:window].copy()  # a ring: the oldest unflagged loss is overwritten
    oldest = 0
    patience = 0
    for place in range(window, len(losses)):
        middle = float(np.median(recent))
        spread = MEDIAN_TO_SIGMA * float(np.median(np.abs(recent - middle)))
        level[place] = middle
        flagged[place] = losses[place] - middle > max(sigmas * spread, rise * abs(middle), least)
        patience = patience + 1 if flagged[place] else 0
        if patience > window:  # it does not come back: this is the new level, no spike any more
            recent, oldest, patience = losses[place - window + 1 : place + 1].copy(), 0, 0
        elif not flagged[place]:
            recent[oldest] = losses[place]
            oldest = (oldest + 1) % window
    return flagged, level


def _joined(stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Stretches with no more than GAP entries between them are one."""
    found: list[tuple[int, int]] = []
    for start, stop in stretches:
        if found and start - found[-1][1] <= GAP:
            found[-1] = found[-1][0], stop
        else:
            found.append((start, stop))
    return found


def _stretches(flagged: np.ndarray) -> list[tuple[int, int]]:
    """Start and stop of every stretch of true entries."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flagged, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]
