"""Pictures of a figure, PNG and SVG, made by the browser that shows it, which asks no server for them."""

from textwrap import wrap
from typing import Any

import streamlit as st

WIDEST = 150
"""Letters in a line of the footer."""

# The chart's own camera button knows how to make a picture. It is given a copy of the figure's words to
# print: the ground of the page, a title, and the footer; afterwards the figure is as it was.
SCRIPT = """
const LINE = 14, TOP = 30, FONT = "Arial, Helvetica, sans-serif";

function chartNear(node) {
  for (let place = node; place; place = place.parentElement) {
    const found = place.querySelector(".js-plotly-plot");
    if (found) return found;
  }
  return null;
}

function words(chart, data) {
  const kept = chart.layout, { margin } = kept;
  const title = { text: data.title, font: { size: 15, family: FONT } };
  const footer = {
    text: data.footer.join("<br>"), showarrow: false, align: "left", font: { size: 10 }, opacity: 0.8,
    xref: "paper", yref: "paper", x: 0, y: 0, xanchor: "left", yanchor: "top", yshift: -margin.b - 12,
  };
  // A legend above the plot has the title as its own: two things above it would lie on one another.
  const top = chart.querySelector(".legend")
    ? { legend: { ...kept.legend, title: { ...title, side: "top" } } }
    : { title: { ...title, x: 0.01, xanchor: "left", y: 1, yanchor: "top", pad: { t: 12 } } };
  return {
    ...kept, ...top, paper_bgcolor: data.ground, plot_bgcolor: data.ground,
    // A picture has no fonts of the page: letters are measured in one that every reader has.
    font: { ...kept.font, family: FONT },
    margin: { ...margin, t: margin.t + TOP, b: margin.b + 24 + LINE * data.footer.length },
    annotations: [...(kept.annotations || []), footer],
  };
}

function save(chart, format, data) {
  const camera = chart.querySelector('.modebar-btn[data-title^="Download"]');
  const box = chart.getBoundingClientRect(), { layout } = chart, { toImageButtonOptions } = chart._context;
  chart.layout = words(chart, data);
  chart._context.toImageButtonOptions = {
    format, filename: data.name, scale: format === "png" ? 2 : 1,
    width: Math.round(box.width), height: Math.round(box.height + TOP + 24 + LINE * data.footer.length),
  };
  camera.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  chart.layout = layout;
  chart._context.toImageButtonOptions = toImageButtonOptions;
}

export default function (component) {
  const { parentElement, data } = component;
  for (const button of parentElement.querySelectorAll(".acs-save button")) {
    button.onclick = () => save(chartNear(parentElement), button.dataset.format, data);
  }
}
"""

STYLE = """
.acs-save { display: flex; gap: 6px; }
.acs-save button {
  font: 400 0.9rem/1.5 var(--st-font, sans-serif); color: var(--st-text-color); background: transparent;
  cursor: pointer; padding: 5px 12px;
  border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius, 7px);
}
.acs-save button:hover { border-color: var(--st-primary-color); color: var(--st-primary-color); }
.acs-save button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 1px; }
"""

_buttons = st.components.v2.component(
    "attention_conditioning_sandbox.pictures",
    html='<div class="acs-save" role="group" aria-label="Save the figure">'
    '<button type="button" data-format="png">PNG</button>'
    '<button type="button" data-format="svg">SVG</button></div>',
    css=STYLE,
    js=SCRIPT,
    isolate_styles=False,
)


def save_buttons(name: str, title: str, footer: list[str], dark: bool, key: str) -> None:
    """Two buttons that save the nearest chart as `name`, with title and footer, on a plain ground.

    `title` and `footer` are for Plotly, which reads a little HTML: hand in `literal` text.
    """
    data: dict[str, Any] = {
        "name": name,
        "title": title,
        "footer": [
            line
            for text in footer
            for line in wrap(text, WIDEST, break_long_words=False, break_on_hyphens=False)
        ],
        "ground": "#12161c" if dark else "#ffffff",
    }
    _buttons(key=key, data=data, width="content")
