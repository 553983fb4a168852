"""Drawing: a figure with the words that must stand beside it, on a calm common layout."""

from dataclasses import dataclass

import plotly.graph_objects as go

HEIGHT = 420
FONT = '"Source Sans", "Source Sans Pro", system-ui, sans-serif'


GROUPED = {"separatethousands": True, "exponentformat": "none"}
"""Of an axis of steps: 12,000, as everywhere, instead of 12k."""
LOG_TICKS = {"nticks": 5, "exponentformat": "power"}
"""Of a log axis: Plotly chooses powers, digits between them or plain steps, so every zoom has labels."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure, the honesty lines below it, and its text alternative."""

    figure: go.Figure
    notes: tuple[str, ...] = ()
    alt: str = ""


def blank(name: str, x: str, y: str, dark: bool, height: int = HEIGHT) -> go.Figure:
    """An empty figure; `name` keeps zoom and hidden series across redraws of the same figure."""
    ink = "rgba(250,250,250,0.85)" if dark else "rgba(38,39,48,0.9)"
    grid = "rgba(250,250,250,0.10)" if dark else "rgba(49,51,63,0.10)"
    axis = {
        "gridcolor": grid, "zeroline": False, "showline": True, "linecolor": grid, "ticks": "outside",
        "tickcolor": grid, "automargin": True,
    }  # fmt: skip
    return go.Figure(
        layout={
            "template": "none",
            "height": height,
            "uirevision": name,
            "font": {"color": ink, "size": 12.5, "family": FONT},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "margin": {"l": 64, "r": 48, "t": 16, "b": 48},
            "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "gray", "activecolor": ink, "orientation": "v"},
            "hovermode": "x unified",
            "hoverlabel": {"bgcolor": "#1b1f27" if dark else "#ffffff", "font": {"color": ink, "size": 12}},
            "legend": {
                "orientation": "h",
                "yanchor": "bottom",
                "y": 1.02,
                "x": 0,
                "groupclick": "togglegroup",
            },
            "xaxis": {**axis, "title": {"text": x, "font": {"size": 13}}, **GROUPED},
            "yaxis": {**axis, "title": {"text": y, "font": {"size": 13}}},
        }
    )


def says(sentence: str, dark: bool) -> Drawing:
    """A figure's place where there is nothing to draw, with the reason as its text."""
    figure = blank(sentence, "", "", dark, height=160)
    figure.update_xaxes(visible=False).update_yaxes(visible=False)
    # Plotly reads a little HTML in texts: what comes from elsewhere is taken literally.
    figure.add_annotation(text=literal(sentence), showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper")
    return Drawing(figure, alt=sentence)


def shares(figure: go.Figure, *, signed: bool = False) -> None:
    """Let the y axis write shares in percent, as everywhere: 50 %. With `signed` they are points: +50."""
    if signed:
        alias = {f"{sign}{n}%": f"{sign}{n}" if n else "0" for sign in "+−" for n in range(101)}
    else:
        alias = {f"{sign}{n}%": f"{sign}{n} %" for sign in ("", "−") for n in range(101)}
    figure.update_yaxes(tickformat="+.0%" if signed else ".0%", labelalias=alias)


def literal(text: str) -> str:
    """`text` for a figure, without the meaning that Plotly gives to tags and entities."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
