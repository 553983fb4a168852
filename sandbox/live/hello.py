"""Hello: what a viewer must know once: arms, columns, panels, words, reference lines, colours."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from sandbox.live.feed import SCALARS, Feed
from sandbox.live.panels import declare_panels
from sandbox.live.selection import shape_of_heads
from sandbox.live.wire import STATES, VERSION

ASSETS = Path(__file__).resolve().parents[2] / "assets"
PALETTE = ASSETS / "palette.json"
SCALAR_UNITS = {"loss": "nats", "train_loss": "nats", "test_loss": "nats"}


@cache
def palette() -> dict[str, Any]:
    """Colours, dashes and markers, shared with the figures."""
    return dict(json.loads(PALETTE.read_text(encoding="utf-8")))


def hello(feed: Feed, *, steer: bool) -> dict[str, Any]:
    """The JSON that opens a connection, and opens it again when the run tells something new about itself."""
    experiment = feed.meta.get("experiment", {})
    layers, heads = shape_of_heads(feed)
    columns = [{"name": name, "per": "seed", "unit": SCALAR_UNITS.get(name, "share")} for name in SCALARS]
    columns += [{"name": name, "per": "head", "unit": _unit(feed, name)} for name in feed.head_columns()]
    columns += [{"name": name, "per": "group", "unit": "share"} for name in feed.groups]
    has = frozenset({str(experiment.get("model", {}).get("kind", "")), *(["groups"] if feed.groups else [])})
    return {
        "type": "hello",
        "version": VERSION,
        "run": feed.run_id,
        "steer": steer,
        "states": STATES,
        "steps": experiment.get("steps", 0),
        "arms": feed.arms,
        "seeds": feed.seeds,
        "layers": layers,
        "heads": heads,
        "columns": columns,
        "kinds": sorted(feed.readings()),
        "readings": feed.readings(),
        "panels": declare_panels(has),
        "target": feed.meta.get("target"),
        "lines": reference_lines(feed.meta.get("lines")),
        "notes": list(feed.meta.get("notes") or []),
        "palette": palette(),
        "status": feed.status,
    }


def reference_lines(raw: Any) -> dict[str, dict[str, float]]:
    """Levels to draw by panel (`accuracy`, `loss`), from what the run recorded; numbers only."""
    found: dict[str, dict[str, float]] = {"accuracy": {}, "loss": {}}
    if not isinstance(raw, dict):
        return found
    nested = {key: value for key, value in raw.items() if key in found and isinstance(value, dict)}
    for key, levels in (nested or {"accuracy": raw}).items():
        found[key] = {str(label): float(v) for label, v in levels.items() if isinstance(v, int | float)}
    return found


def _unit(feed: Feed, name: str) -> str:
    kind, column = name.split("/", 1)
    for meta in feed.readings().get(kind, {}).values():
        if column in meta.get("columns", []):
            return str(meta.get("units", {}).get(column, meta.get("unit", "")))
    return ""
