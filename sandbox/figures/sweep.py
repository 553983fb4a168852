"""A sweep as a figure: a final number over one knob, every seed a point, the mean with its interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from sandbox.figures.drawing import Drawing, blank, literal, says, shares
from sandbox.figures.palette import arm_style
from sandbox.mathematics.statistics import mean_band
from sandbox.store.study_table import number_of


@dataclass(frozen=True, eq=False)
class Swept:
    """One arm at one value of the knob; `finals` holds the seeds' numbers, NaN where there is none."""

    value: Any
    arm: str
    finals: Float[np.ndarray, " seed"]
    done: bool
    """Whether the run is over; else these are the numbers so far."""


def sweep_figure(
    swept: Sequence[Swept], key: str, metric: str, log: bool, dark: bool, *, share: bool = False
) -> Drawing:
    """`metric` over the knob `key`, a line per arm; `log` is for a knob of positive numbers.

    A metric that is a `share` is written in percent.
    """
    shown = [one for one in swept if len(one.finals)]
    if not shown:
        return says(f"No point has recorded {metric} yet.", dark)
    values = list(dict.fromkeys(_text(one.value) for one in swept))
    numbers = [number_of(one.value) for one in swept]
    numeric = all(number is not None for number in numbers)
    figure = blank(f"sweep/{key}/{metric}", literal(key), metric, dark)
    figure.update_layout(hovermode="closest")
    for index, arm in enumerate(dict.fromkeys(one.arm for one in swept)):
        style, name = arm_style(index, dark), literal(arm)
        own = [one for one in shown if one.arm == arm]
        if numeric:
            own = sorted(own, key=lambda one: number_of(one.value) or 0.0)
        places: list[Any] = [number_of(one.value) if numeric else _text(one.value) for one in own]
        finals = [one.finals[np.isfinite(one.finals)] for one in own]
        figure.add_scatter(
            x=[place for place, seeds in zip(places, finals, strict=True) for _ in seeds],
            y=np.concatenate([*finals, np.zeros(0)]), mode="markers", name=f"{name}, seeds", legendgroup=name,
            showlegend=False, marker={"color": style.faded(0.45), "size": 6, "symbol": style.symbol},
            hovertemplate=f"{name} %{{y:.4g}}<extra>one seed</extra>",
        )  # fmt: skip
        bands = [mean_band(seeds[:, None]) if len(seeds) else None for seeds in finals]
        mean = np.array([np.nan if b is None else b.mean[0] for b in bands])
        low, high = (
            np.array([np.nan if b is None else getattr(b, end)[0] for b in bands]) for end in ("low", "high")
        )
        figure.add_scatter(
            x=places, y=mean, mode="lines+markers", name=name, legendgroup=name,
            line={"color": style.colour, "width": 2.5, "dash": style.dash},
            marker={"color": style.colour, "size": 9, "symbol": style.symbol},
            error_y={
                "type": "data", "array": np.nan_to_num(high - mean),
                "arrayminus": np.nan_to_num(mean - low), "thickness": 1.5, "width": 5,
            },
            customdata=np.array([len(seeds) for seeds in finals]),
            hovertemplate=f"{name} %{{y:.4g}} (mean of %{{customdata}})<extra></extra>",
        )  # fmt: skip
    if not numeric:
        figure.update_xaxes(type="category", categoryorder="array", categoryarray=values)
    elif log and all(number is not None and number > 0 for number in numbers):
        figure.update_xaxes(type="log")
    if share:
        shares(figure)
    return Drawing(figure, tuple(_notes(swept)), _alt(shown, key, metric))


def _notes(swept: Sequence[Swept]) -> list[str]:
    """What the figure leaves out or has not yet."""
    lost = sum(int(np.count_nonzero(~np.isfinite(one.finals))) for one in swept)
    early = len({_text(one.value) for one in swept if not one.done})
    notes = ["Points are seeds at the last evaluation, bars the 95 % Student interval of their mean"]
    if lost:
        notes.append(f"{lost} seeds that are not a number or infinite are left out")
    if early:
        notes.append(f"{early} values of the knob are not done: their numbers are those so far, or none")
    return notes


def _alt(shown: Sequence[Swept], key: str, metric: str) -> str:
    """The figure in words: each arm's mean at each value."""
    said: dict[str, list[str]] = {}
    for one in shown:
        finite = one.finals[np.isfinite(one.finals)]
        if len(finite):
            said.setdefault(one.arm, []).append(f"{finite.mean():.4g} at {_text(one.value)}")
    return f"{metric} over {key}. " + "; ".join(f"{arm}: {', '.join(at)}" for arm, at in said.items()) + "."


def _text(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)
