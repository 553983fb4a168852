"""Figure of a small model: the sequence embeddings of the probe, with the level lines of the answer."""

import math

import numpy as np

from sandbox.figures.drawing import Drawing, blank, literal, says
from sandbox.figures.palette import group_style, sequential
from sandbox.foundations.small_model import SmallModel

CELLS = 81
RMS_EPSILON = 1e-5
_erf = np.vectorize(math.erf, otypes=[np.float64])


def sequence_embeddings(w: dict[str, np.ndarray], tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """xi (sequence, d) of tokens (sequence, position) and the attention rows (sequence, position)."""
    z = _normalized(w["tokens"][tokens] + w["positions"])
    scores = z @ w["query"] / math.sqrt(z.shape[-1])
    rows = np.exp(scores - scores.max(axis=1, keepdims=True))
    rows /= rows.sum(axis=1, keepdims=True)
    return np.einsum("st,std->sd", rows, z @ w["w_value.weight"].T), rows


def answers(w: dict[str, np.ndarray], xi: np.ndarray) -> np.ndarray:
    """Class probabilities (point, class) of sequence embeddings (point, d)."""
    inner = _normalized(xi) @ w["up.weight"].T + w["up.bias"]
    h = xi + (inner * (1 + _erf(inner / math.sqrt(2))) / 2) @ w["down.weight"].T + w["down.bias"]
    logits = h @ w["tokens"].T
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def small_model_figure(answer: SmallModel, where: str, kind: str, dark: bool) -> Drawing:
    """Where the probe sequences stand, over the probability that the model gives to the last class."""
    w = {name: values[0] for name, values in answer.weights().items()}
    if w["tokens"].shape[1] != 2:
        return says("Level lines are drawn of a model whose width is 2; the live view shows this one.", dark)
    if not all(np.isfinite(values).all() for values in w.values()):
        return says("This seed's weights are not finite at this step.", dark)
    xi, _ = sequence_embeddings(w, np.array(answer.tokens))
    reach = 1.2 * np.abs(xi - xi.mean(axis=0)).max() or 1.0
    axes = [np.linspace(centre - reach, centre + reach, CELLS) for centre in xi.mean(axis=0)]
    places = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    last = len(answer.class_labels) - 1
    figure = blank(kind, "first dimension of xi", "second dimension of xi", dark, height=560)
    figure.add_contour(
        x=axes[0], y=axes[1], z=answers(w, places)[:, last].reshape(CELLS, CELLS), zmin=0, zmax=1,
        contours={"start": 0.1, "end": 0.9, "size": 0.1}, colorscale=sequential(dark), opacity=0.6,
        colorbar={"title": {"text": f"p({literal(answer.class_labels[last])})"}, "thickness": 12},
        hovertemplate="p = %{z:.3f}<extra></extra>",
    )  # fmt: skip
    for index, label in enumerate(answer.class_labels):
        inside = [i for i, of in enumerate(answer.classes) if of == index]
        style = group_style(index, dark)
        figure.add_scatter(
            x=xi[inside, 0], y=xi[inside, 1], mode="markers", name=literal(f"class {label}"),
            text=[" ".join(answer.token_labels[t] for t in answer.tokens[i]) for i in inside],
            hovertemplate="%{text}<br>(%{x:.3g}, %{y:.3g})<extra></extra>",
            marker={"color": style.colour, "symbol": style.symbol, "size": 8,
                    "line": {"width": 1, "color": "white"}},
        )  # fmt: skip
    figure.update_layout(hovermode="closest", yaxis={"scaleanchor": "x", "constrain": "domain"})
    figure.update_xaxes(constrain="domain")
    alt = f"{len(xi)} sequence embeddings over the level lines of the answer, {where}."
    return Drawing(figure, (where,), alt)


def _normalized(x: np.ndarray) -> np.ndarray:
    return np.asarray(x / (np.sqrt((x**2).mean(axis=-1, keepdims=True)) + RMS_EPSILON))
