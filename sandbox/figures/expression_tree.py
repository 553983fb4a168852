"""The tree of one expression: each token shaded by the attention that it receives, and the model's answer."""

from dataclasses import dataclass, field

import numpy as np

from sandbox.figures.drawing import Drawing, blank, literal
from sandbox.figures.palette import sequential
from sandbox.figures.provenance import provenance
from sandbox.foundations.errors import InvalidData
from sandbox.foundations.readings import Table
from sandbox.foundations.written import percent
from sandbox.store import Run

ANSWERS = "probe answers"
"""The kind of reading that says what the model answers."""


@dataclass
class Node:
    """A token's place in the tree."""

    token: int
    depth: int
    parent: "Node | None"
    children: list["Node"] = field(default_factory=list)
    place: float = 0.0


def grown(tokens: tuple[str, ...]) -> list[Node]:
    """Nodes in the order of their tokens: leaves stand from left to right, operators amid what is theirs."""
    nodes: list[Node] = []
    above: list[Node] = []
    n_leaves = 0
    for token, word in enumerate(tokens):
        node = Node(token, len(above), above[-1] if above else None)
        nodes.append(node)
        if node.parent is not None:
            node.parent.children.append(node)
        if word.startswith("["):
            above.append(node)
            continue
        node.place = n_leaves
        n_leaves += 1
        if word == "]" and above:
            above.pop()
    for node in reversed(nodes):
        if node.children:
            node.place = sum(child.place for child in node.children) / len(node.children)
    return nodes


def tree_figure(
    run: Run, kind: str, arm: str, seed: int, step: int, layer: int, head: int, dark: bool
) -> Drawing:
    """The tree as one arm, seed and head read it at a step; InvalidData where the reading is no table."""
    answer = run.reading(kind, step, arm, seed)
    if not isinstance(answer, Table):
        raise InvalidData(f"{kind} means nothing for {arm}; choose another arm.")
    layer, head = min(layer, answer.cells.shape[1] - 1), min(head, answer.cells.shape[2] - 1)
    received = answer.cells[0, layer, head, :, 0].astype(np.float64)
    nodes = grown(answer.rows)
    figure = blank(f"{kind} as a tree", "", "", dark, height=180 + 60 * max(n.depth for n in nodes))
    ways = [(node.parent, node) for node in nodes if node.parent is not None]
    figure.add_scatter(
        x=[x for a, b in ways for x in (a.place, b.place, None)],
        y=[y for a, b in ways for y in (-a.depth, -b.depth, None)],
        mode="lines", name="belongs to", showlegend=False, hoverinfo="skip",
        line={"color": "rgba(128,128,128,0.6)", "width": 1},
    )  # fmt: skip
    figure.add_scatter(
        x=[node.place for node in nodes], y=[-node.depth for node in nodes], mode="markers+text",
        name="token", showlegend=False, text=[literal(word.lstrip("[")) for word in answer.rows],
        textposition="top center",
        customdata=[[f"{literal(word)}, token {i + 1}"] for i, word in enumerate(answer.rows)],
        hovertemplate="%{customdata[0]}: receives %{marker.color:.4f}<extra></extra>",
        marker={
            "color": received, "size": 17, "colorscale": sequential(dark), "cmin": 0.0, "showscale": True,
            "colorbar": {"title": {"text": answer.unit}, "thickness": 12},
            "line": {"color": "rgba(128,128,128,0.8)", "width": 1},
        },
    )  # fmt: skip
    figure.update_layout(hovermode="closest")
    figure.update_xaxes(visible=False).update_yaxes(visible=False)
    most = int(np.nanargmax(received)) if np.isfinite(received).any() else 0
    where = f"arm {arm}, seed {seed}, step {step}, layer {layer + 1}, head {head + 1}"
    told = _answered(run, arm, seed, step, " ".join(answer.rows))
    alt = f"{' '.join(answer.rows)}. {answer.rows[most]} receives most, {received[most]:.3f}. {told}"
    return Drawing(figure, tuple(word for word in (where, told, *provenance(answer.provenance)) if word), alt)


def _answered(run: Run, arm: str, seed: int, step: int, words: str) -> str:
    """What the model answers to the expression at the step, and whether that is right; empty if not read."""
    if step not in run.reading_steps(ANSWERS, arm):
        return ""
    found = run.reading(ANSWERS, step, arm, seed)
    if not isinstance(found, Table) or words not in found.rows:
        return ""
    row = found.rows.index(words)
    shares = found.cells[0, 0, 0, row].astype(np.float64)
    best = int(shares.argmax())
    said = f"the model answers {found.columns[best]} with {percent(float(shares[best]))}"
    if not found.truth:
        return said
    truth = found.truth[row]
    return f"{said}, right" if best == truth else f"{said}, wrong: it is {found.columns[truth]}"
