"""Phases and spikes: a line for each arm and seed, its phases as stretches, its loss spikes as triangles."""

from sandbox.figures.drawing import Drawing, blank, literal
from sandbox.figures.palette import arm_style
from sandbox.store import Event, Run

PHASE, SPIKE = "phase", "spike"
OPACITY = {"changing": 0.06, "plateau": 0.15, "clustering": 0.3, "fitting": 0.45}
"""Phases differ in shade and are named where they begin; others are as a plateau."""
MOST_HEIGHT = 1200


def happenings_figure(run: Run, dark: bool) -> Drawing:
    """All phases and spikes of the run, from its events."""
    events = [event for event in run.events() if event.kind in (PHASE, SPIKE)]
    last = int(run.status["step"])
    n_lines = len(run.arms) * len(run.seeds)
    figure = blank("phases and spikes", "step", "", dark, height=min(130 + 24 * n_lines, MOST_HEIGHT))
    lines = []
    for index, arm in enumerate(run.arms):
        style, first = arm_style(index, dark), True
        for seed in run.seeds:
            line = f"{literal(arm)}, seed {seed}"
            lines.append(line)
            phases = _of(events, PHASE, arm, seed)
            ends = [*(event.step for event in phases[1:]), last][: len(phases)]
            for event, end in zip(phases, ends, strict=True):
                name, _, rule = event.detail.partition(":")
                figure.add_scatter(
                    x=[event.step, end], y=[line, line], mode="lines+text", name=literal(arm),
                    legendgroup=literal(arm), showlegend=first, text=[literal(name), ""],
                    textposition="middle right", hovertext=literal(f"{name} from step {event.step}:{rule}"),
                    hoverinfo="text", line={"color": style.faded(OPACITY.get(name, 0.15)), "width": 14},
                )  # fmt: skip
                first = False
            spikes = _of(events, SPIKE, arm, seed)
            if spikes:
                figure.add_scatter(
                    x=[event.step for event in spikes], y=[line] * len(spikes), mode="markers",
                    name=f"{literal(arm)}, spike", legendgroup=literal(arm), showlegend=False,
                    text=[literal(event.detail) for event in spikes],
                    hovertemplate="step %{x}: %{text}<extra></extra>",
                    marker={"symbol": "triangle-up", "size": 9, "color": "#d1352b"},
                )  # fmt: skip
    figure.update_layout(hovermode="closest")
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=lines[::-1], showgrid=False)
    n_spikes = sum(event.kind == SPIKE for event in events)
    said = [f"{event.arm}, seed {event.seed}: {event.detail} (step {event.step})" for event in events[-6:]]
    counted = f"{n_spikes} spike{'' if n_spikes == 1 else 's'}, marked by triangles"
    notes = (counted, "a stretch is a phase, named where it begins")
    return Drawing(figure, notes, f"Phases and spikes of {n_lines} runs. The latest: {'; '.join(said)}.")


def _of(events: list[Event], kind: str, arm: str, seed: int) -> list[Event]:
    """Those of one kind, arm and seed, in the order of their steps."""
    return [event for event in events if event.kind == kind and event.arm == arm and event.seed == seed]
