"""Sparkline: the small picture of a run on its card, as SVG made of numbers alone."""

import json
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from sandbox.store.card import ArmCard, SmallCurve

PALETTE = Path(__file__).resolve().parents[2] / "assets" / "palette.json"
WIDTH, HEIGHT, EDGE = 400, 84, 4
MOST_ARMS = 8


def sparkline(arms: Sequence[ArmCard], steps: int, dark: bool) -> str:
    """The arms' curves with their bands, from step 0 to `steps`; empty where nothing was recorded.

    Shares are drawn on the fixed scale from 0 to 1, losses from 0 to the greatest value shown. The
    picture holds no text, so that nothing that anybody typed gets into it.
    """
    shown = [arm.curve for arm in arms[:MOST_ARMS]]
    finite = [v for curve in shown for v in (*curve.high, *curve.mean) if math.isfinite(v)]
    if not finite:
        return ""
    top = 1.0 if shown[0].name.endswith("accuracy") else max(*finite, 1e-12)
    last = max(steps, *(curve.steps[-1] for curve in shown if curve.steps), 1)
    ink = "#fafafa" if dark else "#31333f"
    parts = [_line(EDGE + (HEIGHT - 2 * EDGE) * share, ink) for share in (0.0, 0.5, 1.0)]
    for index, curve in enumerate(shown):
        colour = _colour(index, dark)
        parts += [_band(part, colour, last, top) for part in _stretches(curve)]
        parts += [_path(part, colour, last, top) for part in _stretches(curve)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}">{"".join(parts)}</svg>'
    )


def words(arms: Sequence[ArmCard]) -> str:
    """The text alternative: which curve, and each arm's last value."""
    shown = [arm for arm in arms[:MOST_ARMS] if arm.curve.steps]
    if not shown:
        return "Nothing recorded yet."
    last = "; ".join(f"{arm.name} {arm.curve.mean[-1]:.3g}" for arm in shown)
    return f"{shown[0].curve.name.replace('test_', 'held-out ')} over steps, mean and range of seeds: {last}."


Point = tuple[int, float, float, float]


def _stretches(curve: SmallCurve) -> list[list[Point]]:
    """Where the curve is finite, without a bridge over what is not."""
    found: list[list[Point]] = [[]]
    for point in zip(curve.steps, curve.mean, curve.low, curve.high, strict=True):
        if all(map(math.isfinite, point)):
            found[-1].append(point)
        elif found[-1]:
            found.append([])
    return [part for part in found if part]


def _place(step: int, value: float, last: int, top: float) -> str:
    x = EDGE + (WIDTH - 2 * EDGE) * step / last
    y = EDGE + (HEIGHT - 2 * EDGE) * (1 - min(max(value / top, 0.0), 1.0))
    return f"{x:.1f},{y:.1f}"


def _band(part: list[Point], colour: str, last: int, top: float) -> str:
    there = [_place(step, high, last, top) for step, _, _, high in part]
    back = [_place(step, low, last, top) for step, _, low, _ in reversed(part)]
    return f'<polygon points="{" ".join(there + back)}" fill="{colour}" fill-opacity="0.18"/>'


def _path(part: list[Point], colour: str, last: int, top: float) -> str:
    if len(part) == 1:
        x, y = _place(part[0][0], part[0][1], last, top).split(",")
        return f'<circle cx="{x}" cy="{y}" r="2.5" fill="{colour}"/>'
    points = " ".join(_place(step, mean, last, top) for step, mean, _, _ in part)
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.8"/>'


def _line(y: float, ink: str) -> str:
    return (
        f'<line x1="{EDGE}" x2="{WIDTH - EDGE}" y1="{y:.1f}" y2="{y:.1f}" '
        f'stroke="{ink}" stroke-opacity="0.12"/>'
    )


def _colour(index: int, dark: bool) -> str:
    arms = _palette()["arms"]
    return str(arms[index % len(arms)]["dark" if dark else "light"])


@cache
def _palette() -> dict[str, Any]:
    return dict(json.loads(PALETTE.read_text(encoding="utf-8")))
