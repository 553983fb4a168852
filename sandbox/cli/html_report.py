"""A run as one HTML file that opens anywhere: its curves as Plotly figures, its table and its settings."""

import html
import json
from pathlib import Path

import numpy as np

from sandbox.cli.answers import shown
from sandbox.cli.results import summary
from sandbox.store import Run
from sandbox.store.again import safe_name
from sandbox.store.folder import write_whole

CURVES = (
    ("test_accuracy", "Test accuracy", "share of right answers"),
    ("train_accuracy", "Training accuracy", "share of right answers"),
    ("test_loss", "Test loss", "nats"),
    ("train_loss", "Training loss", "nats"),
    ("loss", "Batch loss", "nats"),
)
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's colours, told apart by colour-blind readers too."""

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body {{ font-family: sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }}
td, th {{ text-align: left; padding: .2rem 1rem .2rem 0 }} pre {{ overflow-x: auto }}</style></head>
<body><h1>{title}</h1><p>{state}</p>{notes}{table}{figures}<h2>Settings</h2><pre>{settings}</pre></body></html>
"""


def write_html(run: Run, out: str | None = None) -> Path:
    """Write the report and return its path; nothing in it is loaded from elsewhere."""
    path = Path(out or f"{safe_name(run.id)}.html")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, report(run).encode())
    return path


def report(run: Run) -> str:
    """The report's HTML; every text of the run is escaped."""
    status = run.status
    figures: list[str] = []
    for name, title, unit in CURVES:
        if name in run.scalar_names():
            figures.append(_figure(run, name, title, unit, first=not figures))
    return PAGE.format(
        title=html.escape(f"Run {run.id}"),
        state=html.escape(f"{status['state']} at step {status['step']}: {status['reason']}"),
        notes="".join(f"<p>{html.escape(note)}</p>" for note in run.notes),
        table=_table(run),
        figures="".join(figures),
        settings=html.escape(json.dumps(run.experiment, indent=1)),
    )


def _figure(run: Run, name: str, title: str, unit: str, first: bool) -> str:
    """Every seed as a thin line, and the mean of the finite ones as a thick one."""
    import plotly.graph_objects as go

    figure = go.Figure(
        layout={"title": title, "xaxis_title": "step", "yaxis_title": unit, "template": "simple_white"}
    )
    for index, arm in enumerate(run.arms):
        steps, values = run.group_curve(name, arm)
        line = {"color": COLOURS[index % len(COLOURS)], "dash": DASHES[index % len(DASHES)]}
        for column in values.T:
            figure.add_scatter(
                x=steps, y=column, mode="lines", line={**line, "width": 1}, opacity=0.35, legendgroup=arm,
                showlegend=False, hoverinfo="skip",
            )  # fmt: skip
        finite = np.isfinite(values)
        count = finite.sum(axis=1)
        mean = np.where(finite, values, 0.0).sum(axis=1) / np.where(count > 0, count, np.nan)
        label = f"{html.escape(arm)} (mean of {len(run.seeds)})"
        figure.add_scatter(
            x=steps, y=mean, mode="lines", line={**line, "width": 3}, name=label, legendgroup=arm
        )
    return str(figure.to_html(full_html=False, include_plotlyjs="inline" if first else False))


def _table(run: Run) -> str:
    columns = (
        "arm",
        "n",
        "final_accuracy",
        "reached",
        "target",
        "median_step",
        "seconds_per_step",
        "diverged",
    )
    rows = ["".join(f"<th>{html.escape(name.replace('_', ' '))}</th>" for name in columns)]
    for arm in summary(run):
        rows.append("".join(f"<td>{html.escape(shown(arm[name], 4))}</td>" for name in columns))
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"
