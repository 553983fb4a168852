"""Hello: what a viewer must know once: arms, columns, panels, words, reference lines, colours."""

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

from sandbox.live.feed import SCALARS, Feed
from sandbox.live.ghost import ghost_columns, parent_of
from sandbox.live.panels import declare_panels
from sandbox.live.selection import shape_of_heads
from sandbox.live.wire import STATES, VERSION
from sandbox.mathematics.deepnorm import deepnorm
from sandbox.store.rows import BEFORE

ASSETS = Path(__file__).resolve().parents[2] / "assets"
PALETTE = ASSETS / "palette.json"
MOST_LAYERS = 10_000
SCALAR_UNITS = {"loss": "nats", "train_loss": "nats", "test_loss": "nats"}


@cache
def palette() -> dict[str, Any]:
    """Colours, dashes and markers, shared with the figures."""
    return dict(json.loads(PALETTE.read_text(encoding="utf-8")))


def hello(feed: Feed, *, steer: bool) -> dict[str, Any]:
    """The JSON that opens a connection, and opens it again when the run tells something new about itself."""
    experiment = feed.meta.get("experiment", {})
    layers, heads = shape_of_heads(feed)
    known = (*SCALARS, *ghost_columns(feed.meta))
    columns = [
        {"name": n, "per": "seed", "unit": SCALAR_UNITS.get(n.rpartition("/")[2], "share")} for n in known
    ]
    for name in feed.columns()[len(known) :]:
        per, unit = ("group", "share") if name in feed.groups else ("head", _unit(feed, name))
        columns.append({"name": name, "per": per, "unit": unit})
    kinds = [str((experiment.get(part) or {}).get("kind", "")) for part in ("model", "task")]
    has = frozenset({*kinds, *(["groups"] if feed.groups else [])})
    return {
        "type": "hello",
        "version": VERSION,
        "run": feed.run_id,
        "steer": steer,
        "recorded": feed.recorded,
        "states": STATES,
        "steps": experiment.get("steps", 0),
        "arms": feed.arms,
        "seeds": feed.seeds,
        "layers": layers,
        "heads": heads,
        "columns": columns,
        "kinds": feed.kinds(),
        "readings": feed.readings(),
        "panels": declare_panels(has),
        "target": feed.meta.get("target"),
        "lines": reference_lines(feed.meta.get("lines")),
        "notes": list(feed.meta.get("notes") or []),
        "palette": palette(),
        "waiting": feed.waiting,
        "parent": parent_of(feed.meta),
        "deepnorm": residual_constants(experiment),
        "status": feed.status,
    }


def residual_constants(experiment: dict[str, Any]) -> dict[str, Any] | None:
    """DeepNorm's constants for the model's layers and each arm's placement; None where it has no layers."""
    model = experiment.get("model") or {}
    layers = model.get("n_layers")
    if not isinstance(layers, int) or not 0 < layers < MOST_LAYERS:
        return None
    arms = [arm if isinstance(arm, dict) else {} for arm in experiment.get("arms") or []]
    placements = [str((arm.get("placement") or model.get("placement") or {}).get("kind", "")) for arm in arms]
    return {"layers": layers, **deepnorm(layers)._asdict(), "placements": placements}


def reference_lines(raw: Any) -> dict[str, dict[str, float | None]]:
    """Levels to draw by panel (`accuracy`, `loss`), as the run recorded them; None if not finite."""
    found: dict[str, dict[str, float | None]] = {"accuracy": {}, "loss": {}}
    if not isinstance(raw, dict):
        return found
    nested = {key: value for key, value in raw.items() if key in found and isinstance(value, dict)}
    for key, levels in (nested or {"accuracy": raw}).items():
        found[key] = {str(label): _level(v) for label, v in levels.items() if isinstance(v, int | float)}
    return found


def _level(value: float) -> float | None:
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:  # a whole number of hundreds of digits
        return None


def _unit(feed: Feed, name: str) -> str:
    kind, column = name.removeprefix(BEFORE).split("/", 1)
    for meta in feed.readings().get(kind, {}).values():
        if column in meta.get("columns", []):
            return str(meta.get("units", {}).get(column, meta.get("unit", "")))
    return ""
