"""What a link says of the live view: step, selection, panels, axes, smoothing, zoom, brought into range."""

import base64
import binascii
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox.foundations.errors import InvalidPlain
from sandbox.store import Run
from sandbox.ui.links import ALPHABET, read_json

PARAMETER = "view"
SCHEMA = 1
MAX_LINK, MOST_WORDS, LONGEST = 12_000, 200, 120
MOST_SMOOTHED = 2
"""Strongest of the live view's smoothings; 0 is none."""


@dataclass(frozen=True, kw_only=True)
class PanelView:
    """One panel: its axis, its smoothing, and which columns are drawn (empty: as at first)."""

    log: bool = False
    smoothed: int = 0
    shown: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    """What else is pressed on it, by its words: all heads, a plane, a group of rows."""


@dataclass(frozen=True, kw_only=True)
class RunView:
    """What somebody looks at in one run; places count from 0 in the run's own lists."""

    step: int | None = None
    """None follows the latest."""
    arm: int = 0
    seed: int = 0
    layer: int = 0
    head: int = 0
    pinned: str = ""
    """The key of a point, token or cell that is pinned."""
    zoom: tuple[float, float] | None = None
    hidden: tuple[int, ...] = ()
    """Arms that the curves do not show."""
    filled: str = ""
    """The panel that fills the screen."""
    open: tuple[str, ...] = ()
    """Sections that are unfolded."""
    ghost: bool = True
    """Whether the curves of the run that this one goes on from stand behind its own."""
    projector: tuple[str, ...] = ()
    """The panels on the projector, left and right ("" for none); empty where it is off."""
    panels: Mapping[str, PanelView] = field(default_factory=dict)

    def to_plain(self) -> dict[str, Any]:
        """JSON values with the schema number, every value said."""
        return {
            "schema": SCHEMA, "step": self.step, "arm": self.arm, "seed": self.seed, "layer": self.layer,
            "head": self.head, "pinned": self.pinned, "zoom": list(self.zoom) if self.zoom else None,
            "hidden": list(self.hidden), "filled": self.filled, "open": list(self.open),
            "ghost": self.ghost, "projector": list(self.projector),
            "panels": {
                kind: {
                    "log": panel.log, "smoothed": panel.smoothed, "shown": list(panel.shown),
                    "options": list(panel.options),
                }
                for kind, panel in self.panels.items()
            },
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a run has, so that a place in a link can be brought into it."""

    arms: int
    seeds: int
    layers: int
    heads: int
    steps: int
    panels: frozenset[str]
    sections: frozenset[str]


def limits_of(run: Run, declared: list[dict[str, Any]]) -> Limits:
    """The limits of a run; `declared` are the panels of the live view."""
    model = run.experiment.get("model")
    sizes = model if isinstance(model, dict) else {}
    return Limits(
        arms=len(run.arms),
        seeds=len(run.seeds),
        layers=max(1, int(sizes.get("n_layers", 1))),
        heads=max(1, int(sizes.get("n_heads", 64))),
        steps=int(run.experiment["steps"]),
        panels=frozenset(panel["kind"] for panel in declared),
        sections=frozenset(panel["section"] for panel in declared if panel["section"]),
    )


def encode(view: RunView) -> str:
    """The value of the query parameter, as the live view writes it too."""
    text = json.dumps(view.to_plain(), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return f"{SCHEMA}.{base64.urlsafe_b64encode(text.encode()).decode().rstrip('=')}"


def decode(value: str, limits: Limits) -> tuple[RunView, list[str]]:
    """The view in a link within `limits`, and a sentence for each value that was not.

    Raises InvalidPlain with one sentence for a link that cannot be read at all.
    """
    number, dot, packed = value.partition(".")
    if len(value) > MAX_LINK or not dot or not ALPHABET.fullmatch(packed):
        raise InvalidPlain("What the link says of the view is not complete; the run is shown as it opens.")
    if number != str(SCHEMA):
        raise InvalidPlain(
            f"What the link says of the view is written in form {number[:20]!r}, and this version reads form "
            f"{SCHEMA}; the run is shown as it opens."
        )
    try:
        text = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
    except (binascii.Error, ValueError) as fault:
        raise InvalidPlain(
            "What the link says of the view is damaged; the run is shown as it opens."
        ) from fault
    said = read_json(text, "What the link says of the view")
    if not isinstance(said, dict) or said.get("schema") != SCHEMA:
        raise InvalidPlain("What the link says of the view is no view; the run is shown as it opens.")
    reader = _Reader(said)
    view = RunView(
        step=None if said.get("step") is None else reader.whole("step", limits.steps),
        arm=reader.whole("arm", limits.arms - 1),
        seed=reader.whole("seed", limits.seeds - 1),
        layer=reader.whole("layer", limits.layers - 1),
        head=reader.whole("head", limits.heads - 1),
        pinned=reader.word("pinned"),
        zoom=reader.ends("zoom", limits.steps),
        hidden=reader.places("hidden", limits.arms),
        filled=reader.one_of("filled", limits.panels),
        open=reader.several("open", limits.sections),
        ghost=reader.flag("ghost", True),
        projector=reader.pair("projector", limits.panels),
        panels=reader.panels(limits.panels),
    )
    return view, reader.told


class _Reader:
    """Reads one view and remembers what was out of range."""

    def __init__(self, said: dict[str, Any]) -> None:
        self._said = said
        self.told: list[str] = []
        for key in said:
            if key not in RunView().to_plain():
                self.told.append(f"The link's view has no part {str(key)[:40]!r}.")

    def whole(self, key: str, most: int) -> int:
        value = self._said.get(key, 0)
        if isinstance(value, bool) or not isinstance(value, int):
            return self._tell(key, value, 0)
        inside = min(max(value, 0), max(most, 0))
        return inside if inside == value else self._tell(key, value, inside)

    def word(self, key: str) -> str:
        value = self._said.get(key, "")
        sound = isinstance(value, str) and len(value) <= LONGEST and (value.isprintable() or not value)
        return value if sound else self._tell(key, value, "")

    def one_of(self, key: str, known: frozenset[str]) -> str:
        value = self.word(key)
        return value if not value or value in known else self._tell(key, value, "")

    def several(self, key: str, known: frozenset[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._sound(key, lambda word: isinstance(word, str) and word in known)))

    def places(self, key: str, count: int) -> tuple[int, ...]:
        return tuple(sorted(set(self._sound(key, lambda n: type(n) is int and 0 <= n < count))))

    def _sound(self, key: str, is_sound: Callable[[Any], bool]) -> list[Any]:
        """Entries of a list that are sound, of the first MOST_WORDS; what is left out is told."""
        value = self._said.get(key, [])
        given = value if isinstance(value, list) else [value]
        if len(given) > MOST_WORDS:
            self.told.append(
                f"The link's {key} has {len(given)} entries and {MOST_WORDS} fit; the rest is left out."
            )
        bad = [entry for entry in given[:MOST_WORDS] if not is_sound(entry)]
        if bad:
            self._tell(key, bad[0], "")
        return [entry for entry in given[:MOST_WORDS] if is_sound(entry)]

    def ends(self, key: str, steps: int) -> tuple[float, float] | None:
        value = self._said.get(key)
        if value is None:
            return None
        sound = isinstance(value, list) and len(value) == 2 and all(type(n) in (int, float) for n in value)
        if not sound or not all(abs(n) < math.inf for n in value) or not value[0] < value[1]:
            self._tell(key, value, "")
            return None
        low, high = (float(min(max(n, 0), steps)) for n in value)  # no float holds every whole number
        if not low < high:
            self._tell(key, value, "")
            return None
        if (low, high) != (value[0], value[1]):
            self._tell(key, value, f"{low:g} to {high:g}")
        return low, high

    def panels(self, known: frozenset[str]) -> dict[str, PanelView]:
        value = self._said.get("panels", {})
        if not isinstance(value, dict):
            self._tell("panels", value, "")
            return {}
        found = {}
        for kind, how in list(value.items())[:MOST_WORDS]:
            if kind not in known or not isinstance(how, dict):
                self._tell("panels", kind, "")
                continue
            smoothed = how.get("smoothed", 0)
            inside = min(max(smoothed, 0), MOST_SMOOTHED) if type(smoothed) is int else 0
            if inside != smoothed:
                self._tell(f"smoothing of {kind}", smoothed, inside)
            shown, options = (_words(how.get(part, [])) for part in ("shown", "options"))
            found[kind] = PanelView(log=how.get("log") is True, smoothed=inside, shown=shown, options=options)
        return found

    def flag(self, key: str, otherwise: bool) -> bool:
        value = self._said.get(key, otherwise)
        return value if isinstance(value, bool) else self._tell(key, value, otherwise)

    def pair(self, key: str, known: frozenset[str]) -> tuple[str, ...]:
        """At most two panels, of which the second may be none."""
        value = self._said.get(key, [])
        words = value if isinstance(value, list) else [value]
        sound = [
            w for place, w in enumerate(words[:2]) if isinstance(w, str) and (w in known or (place and not w))
        ]
        if len(sound) < len(words):
            self._tell(key, next((w for w in words if w not in sound), words[-1]), "")
        return tuple(sound)

    def _tell(self, key: str, given: Any, taken: Any) -> Any:
        done = f"{taken} is taken" if taken != "" else "it is left out"
        self.told.append(f"The link's {key} {repr(given)[:60]} is not in this run; {done}.")
        return taken


def _words(value: Any) -> tuple[str, ...]:
    words = value if isinstance(value, list) else []
    return tuple([w for w in words if isinstance(w, str) and len(w) <= LONGEST][:MOST_WORDS])
