"""One drawing for each type of reading, chosen by that type."""

from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from sandbox.figures.certificates import certificate_figure
from sandbox.figures.drawing import Drawing, blank, literal, says
from sandbox.figures.ghosts import Ghosts
from sandbox.figures.groups import SeedGroup, draw_group, smoothed
from sandbox.figures.palette import arm_style, group_style, sequential
from sandbox.figures.provenance import provenance
from sandbox.figures.rails import Rails
from sandbox.figures.small_models import small_model_figure
from sandbox.figures.tables import table_figure
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.certificate import Certificate
from sandbox.foundations.readings import (
    Answer,
    AttentionMap,
    PerHead,
    SmallModel,
    Table,
    Trajectory,
)
from sandbox.foundations.written import percent
from sandbox.mathematics.jacobian_condition import rank_sentence
from sandbox.store import Run

TAIL = 200
"""Most earlier positions of a point that are drawn behind it."""


@dataclass(frozen=True)
class Asked:
    """Which part of a diagnostic's answers is to be drawn."""

    run: Run
    kind: str
    arm: str
    seed: int
    step: int
    layer: int = 0
    head: int = 0
    column: str = ""
    dark: bool = False
    reach: int = 0
    """Points to either side over which curves are smoothed; brackets never are: a mean of bounds is none."""


def draw(asked: Asked) -> Drawing:
    """The drawing of what the diagnostic answered; a new type of reading without one is an error."""
    answer = asked.run.reading(asked.kind, asked.step, asked.arm, asked.seed)
    return _draw(answer, asked)


@singledispatch
def _draw(answer: Answer, asked: Asked) -> Drawing:
    raise TypeError(f"no drawing for {type(answer).__name__}; add one to {__name__}")


@_draw.register
def _(answer: NotApplicable, asked: Asked) -> Drawing:
    return says(answer.reason, asked.dark)


@_draw.register
def _(answer: PerHead, asked: Asked) -> Drawing:
    """All arms over steps, for one layer and head; `lower` and `upper` are drawn as one bracket."""
    run, dark = asked.run, asked.dark
    column = asked.column or next(iter(answer.columns))
    names = {column: "solid"}
    if column == "lower" and "upper" in answer.columns:
        names = {"lower": "solid", "upper": "dot"}
    log = answer.log and column not in answer.linear
    unit = answer.units.get(column, answer.unit)
    figure, rails = blank(f"{asked.kind}/{column}", "step", unit, dark), Rails(log)
    notes: list[str] = []
    ghosts, reach = Ghosts(run, figure, log), asked.reach if len(names) == 1 else 0
    place = asked.layer, asked.head
    for index, arm in enumerate(run.arms):
        for name, dash in names.items():
            ghosts.reading(asked.kind, name, arm, place, arm_style(index, dark), dash)
            steps, values = run.reading_column(asked.kind, name, arm)
            if not len(steps) or asked.layer >= values.shape[2] or asked.head >= values.shape[3]:
                continue
            title = arm if dash == "solid" else f"{arm}, {name}"
            curve = values[:, :, *place].astype(np.float64)
            group = SeedGroup(title, steps, curve, run.seeds)
            first = dash == "solid"
            notes += draw_group(figure, rails, group, arm_style(index, dark), dash, first, first, reach=reach)
    notes += [*rails.lay_out(figure), *smoothed(reach), *ghosts.notes]
    if {"rank", "ceiling"} <= set(answer.columns) and column in ("median", "geometric mean"):
        kappa, rank, ceiling = (
            float(answer.columns[name][0, asked.layer, asked.head]) for name in (column, "rank", "ceiling")
        )
        notes.append(f"{asked.arm}, seed {asked.seed}: {rank_sentence(kappa, rank, ceiling)}")
    if len(names) > 1:
        notes.append("the true value lies between the solid and the dotted line")
    alt = f"{asked.kind}, {column}, layer {asked.layer + 1}, head {asked.head + 1}, over steps for all arms."
    return Drawing(figure, (*notes, *provenance(answer.provenance)), alt)


@_draw.register
def _(answer: Trajectory, asked: Asked) -> Drawing:
    """Where the points of one arm and seed stand at the step, and the way they have come."""
    dark = asked.dark
    figure = blank(asked.kind, "first axis", "second axis", dark, height=560)
    points = answer.points[0]
    history = _history(asked)
    for index, group in enumerate(dict.fromkeys(answer.groups)):
        style = group_style(index, dark)
        inside = np.array([name == group for name in answer.groups])
        label = literal(group)
        if len(history) > 1:
            ways = history[:, inside]
            gaps = np.full((1, *ways.shape[1:]), np.nan)
            joined = np.concatenate([ways, gaps]).swapaxes(0, 1).reshape(-1, 2)
            figure.add_scatter(
                x=joined[:, 0],
                y=joined[:, 1],
                mode="lines",
                legendgroup=label,
                showlegend=False,
                hoverinfo="skip",
                line={"color": style.faded(0.25), "width": 1},
            )
        figure.add_scatter(
            x=points[inside, 0],
            y=points[inside, 1],
            mode="markers",
            name=label,
            legendgroup=label,
            text=[literal(answer.labels[i]) for i in np.flatnonzero(inside)],
            hovertemplate="%{text}<br>(%{x:.3g}, %{y:.3g})<extra>" + label + "</extra>",
            marker={"color": style.colour, "symbol": style.symbol, "size": 8},
        )
    figure.update_layout(hovermode="closest", yaxis={"scaleanchor": "x", "constrain": "domain"})
    figure.update_xaxes(constrain="domain")
    share = answer.explained_variance
    notes = [f"arm {asked.arm}, seed {asked.seed}, step {asked.step}"]
    if share is None:
        notes.append("two dimensions, drawn as they are")
    else:
        notes.append(
            f"the axes explain {percent(share[0, 0], 0)} and {percent(share[0, 1], 0)} "
            "of this step's variance"
        )
    if not np.isfinite(points).all():
        notes.append(f"{int((~np.isfinite(points).all(axis=1)).sum())} points are not finite and not drawn")
    alt = f"{len(points)} points in the plane, in the groups {', '.join(dict.fromkeys(answer.groups))}."
    return Drawing(figure, (*notes, *provenance(answer.provenance)), alt)


@_draw.register
def _(answer: AttentionMap, asked: Asked) -> Drawing:
    """One head's weights on the fixed scale 0 to 1; cells that no query may see are crossed out."""
    layer = min(asked.layer, answer.weights.shape[1] - 1)
    head = min(asked.head, answer.weights.shape[2] - 1)
    weights = answer.weights[0, layer, head].astype(np.float64)
    n_queries, n_keys = weights.shape
    figure = blank(asked.kind, "key", "query", asked.dark, height=560 if n_queries > 1 else 240)
    keys, queries = (
        [literal(label) for label in labels] for labels in (answer.key_labels, answer.query_labels)
    )
    figure.add_heatmap(
        z=np.where(answer.mask, weights, np.nan),
        zmin=0,
        zmax=1,
        colorscale=sequential(asked.dark),
        xgap=1,
        ygap=1,
        customdata=[
            [f"{q} at {i + 1} looks at {k} at {j + 1}" for j, k in enumerate(keys)]
            for i, q in enumerate(queries)
        ],
        hovertemplate="%{customdata}: %{z:.4f}<extra></extra>",
        colorbar={"title": {"text": "attention"}, "thickness": 12},
    )
    hidden = np.argwhere(~answer.mask)
    if len(hidden):
        figure.add_scatter(
            x=hidden[:, 1],
            y=hidden[:, 0],
            mode="markers",
            hoverinfo="skip",
            showlegend=False,
            marker={"symbol": "x-thin", "size": 6, "line": {"width": 1, "color": "gray"}},
        )
    figure.update_layout(hovermode="closest", yaxis={"scaleanchor": "x", "constrain": "domain"})
    figure.update_xaxes(tickvals=list(range(n_keys)), ticktext=keys, showgrid=False, constrain="domain")
    figure.update_yaxes(
        tickvals=list(range(n_queries)), ticktext=queries, autorange="reversed", showgrid=False
    )
    where = f"arm {asked.arm}, seed {asked.seed}, step {asked.step}, layer {layer + 1}, head {head + 1}"
    shown = weights[answer.mask & np.isfinite(weights)]
    largest = f"the largest weight is {shown.max():.3f}" if shown.size else "no weight is a number"
    alt = f"Attention of {n_queries} queries over {n_keys} keys, {where}; {largest}."
    masked = (f"{len(hidden)} cells are masked and crossed out",) if len(hidden) else ()
    return Drawing(figure, (where, *masked, *provenance(answer.provenance)), alt)


@_draw.register
def _(answer: Table, asked: Asked) -> Drawing:
    """A spectrum over the steps, or the cells of one step."""
    drawing = table_figure(
        answer, asked.run, asked.kind, asked.arm, asked.seed, asked.step, asked.layer, asked.head, asked.dark
    )
    return Drawing(drawing.figure, (*drawing.notes, *provenance(answer.provenance)), drawing.alt)


@_draw.register
def _(answer: Certificate, asked: Asked) -> Drawing:
    """Bounds and what they bound, of one arm, seed, layer and head."""
    drawing = certificate_figure(
        answer, asked.run, asked.kind, asked.arm, asked.seed, asked.layer, asked.head, asked.dark
    )
    return Drawing(drawing.figure, (*drawing.notes, *provenance(answer.provenance)), drawing.alt)


@_draw.register
def _(answer: SmallModel, asked: Asked) -> Drawing:
    """The sequence embeddings of one arm and seed, with the level lines of the answer."""
    where = f"arm {asked.arm}, seed {asked.seed}, step {asked.step}"
    drawing = small_model_figure(answer, where, asked.kind, asked.dark)
    return Drawing(drawing.figure, (*drawing.notes, *provenance(answer.provenance)), drawing.alt)


def _history(asked: Asked) -> np.ndarray:
    """(step, point, 2): where the points were up to the step, at most TAIL times."""
    steps, values = asked.run.reading_column(asked.kind, "points", asked.arm)
    past = np.flatnonzero(steps <= asked.step)
    if not len(past):
        return np.zeros((0, 0, 2))
    kept = past[np.unique(np.linspace(0, len(past) - 1, TAIL).astype(np.int64))]
    return values[kept][:, asked.run.seeds.index(asked.seed)].astype(np.float64)
