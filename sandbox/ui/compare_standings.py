"""Where every group of a comparison stands at one place, and how far each is from the reference there."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from sandbox.foundations.errors import SandboxError
from sandbox.runner import resampling
from sandbox.store import compared as curves
from sandbox.store.compared import Compared, Difference
from sandbox.ui import compare_words
from sandbox.ui.compare_words import Standing
from sandbox.ui.words import escaped

Bands = list[tuple[np.ndarray, np.ndarray] | None]


def standings(
    groups: Sequence[Compared], reference: Compared, at: float, whole: bool, resting: bool
) -> tuple[list[Standing], list[Difference], Bands]:
    """Every group at the place `at`, the differences from the reference, and the bootstrap's bands.

    What a group shows does not depend on the other groups. Bands come with `whole`, and bootstrap intervals
    only of runs that are `resting`.
    """
    others = [group for group in groups if group is not reference]
    gaps = [curves.difference(group, reference) for group in others]
    here = [_pairs_at(gap, at) for gap in gaps]
    values = [pairs for _, pairs in here]
    bands, found = _bootstrap(gaps, values, whole) if resting else ([None] * len(gaps), {})
    said = []
    for group in groups:
        place, own = curves.at_place(group, at) if not np.isnan(at) else (np.nan, np.zeros(0))
        if group is reference:
            said.append(Standing(label=group.label, values=tuple(own), place=place))
            continue
        number = others.index(group)
        said.append(
            Standing(
                label=group.label,
                values=tuple(own),
                place=place,
                difference=compare_words.of_pairs(values[number]),
                paired_at=here[number][0],
                bootstrap=found.get(number),
                identical=_identical(gaps[number]),
            )
        )
    return said, gaps, bands


def _identical(gap: Difference) -> bool:
    """Whether group and reference have the same values wherever both were recorded, to the last bit."""
    return bool(gap.values.size) and bool((gap.values == 0).all()) and gap.apart == 0


def _pairs_at(gap: Difference, at: float) -> tuple[float, np.ndarray]:
    """The last place up to `at` where both were recorded, with the differences of the pairs there."""
    place = int(np.searchsorted(gap.x, at, side="right")) - 1 if len(gap.x) and not np.isnan(at) else -1
    return (
        (float(gap.x[place]), gap.values[place]) if place >= 0 else (np.nan, np.full(len(gap.seeds), np.nan))
    )


def _bootstrap(
    gaps: list[Difference], here: list[np.ndarray], whole: bool
) -> tuple[Bands, dict[int, tuple[float, float]]]:
    """Bootstrap intervals over the places (where `whole`) and at the place that is looked at.

    All are asked at once: most of the time goes into starting the process that answers.
    """
    asked = [number for number, gap in enumerate(gaps) if len(gap.x) and len(gap.seeds) > 1]
    bands: Bands = [None] * len(gaps)
    if not asked:
        return bands, {}
    widest = max(len(gaps[number].seeds) for number in asked)
    parts = [np.concatenate([here[n][None], gaps[n].values if whole else gaps[n].values[:0]]) for n in asked]
    rows = [np.pad(part, ((0, 0), (0, widest - part.shape[1])), constant_values=np.nan) for part in parts]
    try:
        answers = np.array(_intervals(resampling.rows(np.concatenate(rows))))
    except SandboxError as error:
        st.info(escaped(str(error)))
        return bands, {}
    found: dict[int, tuple[float, float]] = {}
    for number, answer in zip(asked, np.split(answers, np.cumsum([len(r) for r in rows])[:-1]), strict=True):
        found[number] = (float(answer[0, 0]), float(answer[0, 1]))
        bands[number] = (answer[1:, 0], answer[1:, 1]) if whole else None
    return bands, found


@st.cache_data(max_entries=128, show_spinner="Drawing the seeds again, for the intervals")
def _intervals(rows: tuple[tuple[float, ...], ...]) -> tuple[tuple[float, float], ...]:
    return resampling.intervals(rows)
