"""Figures that compare: groups on one axis, their paired differences, side by side, or in a grid."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from plotly.subplots import make_subplots

from sandbox.figures.drawing import GROUPED, LOG_TICKS, Drawing, blank, literal, says, shares
from sandbox.figures.lines import band, drawable, mean_line, thin_line
from sandbox.figures.palette import arm_style
from sandbox.figures.rails import Rails
from sandbox.mathematics.group_band import BandKind, GroupBand, group_band
from sandbox.mathematics.statistics import mean_band
from sandbox.store.compared import Axis, Compared, Difference

AXIS_WORDS: dict[Axis, str] = {
    "step": "step",
    "examples": "training examples seen",
    "seconds": "seconds of training, mean pace of the arm",
    "event": "steps from the event",
}
STANDOFF = 14
"""Pixels between the numbers of an axis and its title."""
CELL = 150
"""Height of one cell of a grid, in pixels."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """How a comparison is drawn; it changes no number."""

    axis: Axis = "step"
    log: bool = False
    band: BandKind = "range"
    """What the bands are."""
    smooth: int = 0
    """Points to either side over which each seed is smoothed; the raw lines stay behind."""
    share: bool = False
    """Whether the quantity is a share, drawn from 0 to 1 in percent."""
    dark: bool = False


def overlay_figure(groups: Sequence[Compared], metric: str, look: Look) -> Drawing:
    """All groups on one pair of axes."""
    shown = [group for group in groups if len(group.x)]
    if not shown:
        return says(f"None of these groups has recorded {metric}.", look.dark)
    figure, rails = blank(f"compare/{metric}", AXIS_WORDS[look.axis], metric, look.dark), Rails(look.log)
    for group in shown:
        _draw(figure, rails, group, look)
    figure.update_yaxes(title_standoff=STANDOFF)
    _shares(figure, look)
    notes = [*_notes(shown, look), *rails.lay_out(figure)]
    return Drawing(figure, tuple(notes), _alt(shown, metric))


def side_by_side_figure(groups: Sequence[Compared], metric: str, look: Look) -> Drawing:
    """One small figure for each group, all on the same scales."""
    return _cells(
        [[group] for group in groups], [[group.label] for group in groups], metric, look, across=True
    )


def grid_figure(
    cells: Sequence[Sequence[Compared | None]],
    rows: Sequence[str],
    columns: Sequence[str],
    metric: str,
    look: Look,
) -> Drawing:
    """Rows and columns of small figures on the same scales; None is an empty cell."""
    titles = [[f"{row} · {column}" for column in columns] for row in rows]
    return _cells(cells, titles, metric, look, across=False)


def seed_cells(groups: Sequence[Compared], seeds: Sequence[int]) -> list[list[Compared | None]]:
    """Rows of groups and columns of seeds, each cell one seed's curve."""
    return [[_one_seed(group, seed) if seed in group.seeds else None for seed in seeds] for group in groups]


def difference_figure(
    differences: Sequence[Difference],
    bands: Sequence[tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]] | None],
    metric: str,
    look: Look,
) -> Drawing:
    """Each group less the reference, seed by seed: thin lines, the mean, and the bootstrap interval of it."""
    shown = [
        (gap, interval) for gap, interval in zip(differences, bands, strict=True) if len(gap.x) and gap.seeds
    ]
    if not shown:
        return says(nothing_shared(look.axis), look.dark)
    reference = shown[0][0].reference
    unit = f"{metric}, less that of {reference}{', in points' if look.share else ''}"
    figure = blank(f"compare/{metric}/difference", AXIS_WORDS[look.axis], literal(unit), look.dark)
    rails, notes = Rails(log=False), []
    for gap, interval in shown:
        style, name = arm_style(gap.place, look.dark), literal(gap.label)
        for column, seed in enumerate(gap.seeds):
            shown_values = rails.add(figure, f"{name}, seed {seed}", gap.x, gap.values[:, column], style)
            thin_line(figure, name, seed, gap.x, shown_values, style)
        found = mean_band(gap.values.T)
        if interval is not None:
            band(figure, name, gap.x, interval[0], interval[1], style)
        mean_line(
            figure, name, f"{name}: mean of {int(found.n.max())} pairs", gap.x, found.mean, found.n, style
        )
        if gap.apart:
            notes.append(
                f"{gap.label}: pairs at the {len(gap.x)} places where both were recorded, and none at the "
                f"{gap.apart} where one was; nothing is interpolated"
            )
    figure.update_yaxes(title_standoff=STANDOFF)
    figure.add_hline(y=0, line={"color": "gray", "width": 1, "dash": "dot"})
    if look.share:
        shares(figure, signed=True)
    made = any(interval is not None for _, interval in shown)
    notes.append(
        "bands: 95 % percentile bootstrap of the paired mean, 4,999 resamples of the seeds"
        if made
        else "no band: bootstrap intervals need two seeds in common, and runs that do not train at the moment"
    )
    notes += rails.lay_out(figure)
    latest = "; ".join(f"{gap.label} {float(mean_band(gap.values.T).mean[-1]):+.3g}" for gap, _ in shown)
    return Drawing(
        figure, tuple(notes), f"Paired differences of {metric} from {reference}. Latest: {latest}."
    )


def nothing_shared(axis: Axis) -> str:
    """Why there is no paired difference, in a sentence."""
    if axis == "seconds":
        return "Arms differ in their pace, so that no two are recorded at the same second; align by steps."
    return "No seed is in both groups at a place where both were recorded; choose groups that share seeds."


def _cells(
    cells: Sequence[Sequence[Compared | None]],
    titles: Sequence[Sequence[str]],
    metric: str,
    look: Look,
    across: bool,
) -> Drawing:
    flat = [
        (cell, title)
        for row, names in zip(cells, titles, strict=True)
        for cell, title in zip(row, names, strict=True)
    ]
    known = [cell for cell, _ in flat if cell is not None and len(cell.x)]
    if not known:
        return says(f"None of these groups has recorded {metric}.", look.dark)
    n_columns = min(3, len(flat)) if across else max(len(row) for row in cells)
    n_rows = -(-len(flat) // n_columns)
    figure = make_subplots(
        rows=n_rows, cols=n_columns, shared_xaxes="all", shared_yaxes="all",
        subplot_titles=[literal(title) for _, title in flat],
        horizontal_spacing=0.02, vertical_spacing=min(0.3 / n_rows, 0.16),
    )  # fmt: skip
    figure.update_layout(
        blank(f"compare/{metric}/cells", "", "", look.dark, max(320, 70 + CELL * n_rows + 30)).layout
    )
    axis = figure.layout.xaxis.to_plotly_json()
    style = {
        k: axis[k]
        for k in ("gridcolor", "linecolor", "showline", "zeroline", "ticks", "tickcolor")
        if k in axis
    }
    figure.update_xaxes(**GROUPED)
    low, high = _range(known, look.log)
    figure.update_xaxes(**style)
    figure.update_yaxes(**style, type="log" if look.log else "linear", range=[low, high], title=None)
    if look.log:
        figure.update_yaxes(**LOG_TICKS)
    lost = 0
    for number, (cell, title) in enumerate(flat):
        if cell is None:
            continue
        row, column = number // n_columns + 1, number % n_columns + 1
        lost += _cell(figure, cell, title, look, row, column)
    if look.share and not look.log:
        shares(figure)
    figure.update_layout(showlegend=False, margin={"t": 40}, hovermode="closest")
    figure.update_xaxes(title={"text": AXIS_WORDS[look.axis], "font": {"size": 12}}, row=n_rows)
    notes = _notes(known, look)
    if lost:
        notes.append(f"{lost} values are not finite, or not positive on the log axis, and stand in no cell")
    return Drawing(figure, tuple(dict.fromkeys(notes)), _alt(known, metric))


def _cell(figure: go.Figure, cell: Compared, title: str, look: Look, row: int, column: int) -> int:
    style, name = arm_style(cell.place, look.dark), literal(title)
    smooth = cell.smoothed(look.smooth) if look.smooth else cell
    at: dict[str, int] = {"row": row, "col": column}
    found = _middle(smooth, look)
    if len(cell.seeds) > 1:
        low, high = drawable(found.low, look.log), drawable(found.high, look.log)
        band(figure, name, cell.x, low, high, style, **at)
    mean_line(figure, name, name, cell.x, drawable(found.middle, look.log), found.n, style, **at)
    return int((~np.isfinite(cell.values) | ((cell.values <= 0) & look.log)).sum())


def _draw(figure: go.Figure, rails: Rails, group: Compared, look: Look) -> None:
    style, name = arm_style(group.place, look.dark), literal(group.label)
    several = len(group.seeds) > 1
    smooth = group.smoothed(look.smooth) if look.smooth else group
    for column, seed in enumerate(group.seeds):
        shown = rails.add(figure, f"{name}, seed {seed}", group.x, group.values[:, column], style)
        if several or look.smooth:
            thin_line(figure, name, seed, group.x, shown, style)
    found = _middle(smooth, look)
    if several:
        low, high = drawable(found.low, look.log), drawable(found.high, look.log)
        band(figure, name, group.x, low, high, style)
    n = int(found.n.max())
    label = f"{name}: {found.words.format(n=n)}" if several else f"{name} (1 seed, no band)"
    least = int(found.n.min())
    label += f", down to {least}" if several and least < n else ""
    mean_line(figure, name, label, group.x, drawable(found.middle, look.log), found.n, style)


def _middle(group: Compared, look: Look) -> GroupBand:
    """The group's statistics over all of its seeds, whatever else is shown."""
    return group_band(group.values, look.band, look.log)


def _one_seed(group: Compared, seed: int) -> Compared:
    column = group.seeds.index(seed)
    return Compared(
        group.label, group.run_id, group.arm, (seed,), group.x, group.values[:, [column]], group.place
    )


def _range(groups: Sequence[Compared], log: bool) -> tuple[float, float]:
    values = np.concatenate([drawable(group.values, log).reshape(-1) for group in groups])
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    if log:
        values = np.log10(values)
    low, high = float(values.min()), float(values.max())
    edge = 0.05 * (high - low) or 0.05 * (abs(high) or 1.0)
    return low - edge, high + edge


def _shares(figure: go.Figure, look: Look) -> None:
    if look.share and not look.log:
        figure.update_yaxes(range=[-0.02, 1.02])
        shares(figure)


def _notes(groups: Sequence[Compared], look: Look) -> list[str]:
    notes = [
        f"{group.label}: {group.left_out} of {len(group.seeds)} seeds left out, the event never came to them"
        for group in groups
        if group.left_out
    ]
    if look.smooth:
        notes.append(f"smoothed over {look.smooth} points to either side, the raw seeds stand behind")
    return notes


def _alt(groups: Sequence[Compared], metric: str) -> str:
    def last(group: Compared) -> str:
        finite = group.values[-1][np.isfinite(group.values[-1])]
        return (
            f"{group.label} {finite.mean():.4g} (n = {len(finite)})" if len(finite) else f"{group.label} none"
        )

    return f"{metric} of {len(groups)} groups. Latest means: {'; '.join(map(last, groups))}."
