"""Panel: what one picture of the live view shows, in words and as the columns it reads."""

from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, ClassVar

from sandbox.foundations.idea import Idea
from sandbox.foundations.registry import Registry

MOST_MISSED = ", most missed"
"""How the label of a column ends that says by how much another one misses, and has no place on its axis."""


@dataclass(frozen=True)
class Curve:
    """One family of lines, arms and seeds apart; a chip above the chart shows and hides it."""

    column: str
    """A scalar's name, or `kind/column` of a reading per head."""
    label: str
    style: str = "solid"
    """solid, dashed (train), or dotted (a companion quantity on the same axis)."""
    to: str = ""
    """Second column of a bracket whose other end is `column`."""
    on: bool = True
    seeds: bool = True
    """Whether seeds are drawn as thin lines besides the mean."""
    group: str = ""
    """Curves of one group are shown together, one group at a time; its name is the chip's word."""


@dataclass(frozen=True, kw_only=True)
class Panel(Idea):
    """A picture: the words that explain it, the columns it reads, the renderer that draws it."""

    variants: ClassVar[Registry["Panel"]] = Registry("panel")

    order: ClassVar[int]
    """Places are filled in this order."""
    place: ClassVar[str]
    """wide (half a row) or third (a third of one)."""
    renderer: ClassVar[str]
    """The script that draws it, such as curves, map or ladder."""
    how_to_read: ClassVar[str]
    reading: ClassVar[str] = ""
    """Kind of the diagnostic that it draws; empty for recorded scalars."""
    curves: ClassVar[tuple[Curve, ...]] = ()
    table: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Columns of the reading, as (column, label), of which the picture shows the present values alone."""
    constants: ClassVar[bool] = False
    """Whether a table of layers ends with DeepNorm's constants."""
    every: ClassVar[bool] = False
    """Whether the curves are all columns of the reading, whose names only a run knows."""
    facts: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Further columns of the reading, as (column, label): printed for the chosen arm, seed and head.
    A label that begins with % is printed after a hundred times the value."""
    one_at_a_time: ClassVar[bool] = False
    """Whether the chips choose one curve instead of showing and hiding each."""
    unit: ClassVar[str] = ""
    log: ClassVar[bool] = False
    bounds: ClassVar[tuple[float, float] | None] = None
    """The axis at rest where the quantity has natural bounds."""
    lines: ClassVar[str] = ""
    """Which reference lines are drawn: accuracy or loss."""
    also: ClassVar[tuple[tuple[str, str, str], ...]] = ()
    """Readings that chips show in turn, as (kind, label, sentence); the first is `reading`."""
    beside: ClassVar[tuple[str, ...]] = ()
    """Further readings that the picture draws together with `reading`."""
    section: ClassVar[str] = ""
    """The folded group below the standard panels where it stands; empty for a standard panel."""
    needs: ClassVar[str] = ""
    """What a run must have to show it: a kind of model or task, or "groups"; empty where every run has it."""
    layers: ClassVar[tuple[str, ...]] = ()
    """Which points of the visual model a plane shows."""
    on_demand: ClassVar[bool] = False
    """Whether its reading is a costly one, which the panel offers to compute at the step that is viewed."""
    levels: ClassVar[str] = ""
    """Whose answer the level lines in a plane show: xi or output."""

    @classmethod
    def declare(cls) -> dict[str, Any]:
        """Everything the browser needs to know, as JSON values."""
        words = ("kind", "title", "sentence", "how_to_read", "equation", "source", "certainty", "our_reading")
        drawing = (
            "place", "renderer", "reading", "also", "section", "layers", "levels", "one_at_a_time", "unit",
            "log", "bounds", "lines", "facts", "table", "beside", "every", "constants", "on_demand",
        )  # fmt: skip
        declared: dict[str, Any] = {name: getattr(cls, name) for name in (*words, *drawing)}
        return declared | {"curves": [asdict(curve) for curve in cls.curves]}


def curve_columns() -> list[str]:
    """The `kind/column` names that some panel draws as curves over steps."""
    curves = (curve for panel in _in_order() for curve in panel.curves)
    return list(dict.fromkeys(name for c in curves for name in (c.column, c.to) if "/" in name))


def fact_columns() -> list[str]:
    """The `kind/column` names that some panel prints or shows the present value of."""
    return list(dict.fromkeys(name for p in _in_order() for name, _ in (*p.facts, *p.table)))


@cache
def standard_columns() -> tuple[frozenset[str], frozenset[str]]:
    """What the panels that no section folds away draw at first: as curves, and as present values."""
    panels = [panel for panel in _in_order() if not panel.section]
    curves = {n for p in panels for c in p.curves for n in (c.column, c.to) if "/" in n and c.on}
    return frozenset(curves), frozenset(name for p in panels for name, _ in (*p.facts, *p.table))


def columns_side_by_side() -> dict[str, list[str]]:
    """The `kind/column` names, by kind, whose present values some panel draws on one axis."""
    panels = [panel for panel in _in_order() if panel.renderer == "ladder"]
    return {p.reading: [c for c, label in p.table if not label.endswith(MOST_MISSED)] for p in panels}


def open_kinds() -> list[str]:
    """Kinds of reading of which some panel draws every column."""
    return [panel.reading for panel in _in_order() if panel.every]


@cache
def asked_kinds() -> frozenset[str]:
    """Kinds of reading that some panel offers to compute."""
    return frozenset(panel.reading for panel in _in_order() if panel.on_demand)


def drawn_kinds() -> list[str]:
    """Kinds of reading that some panel draws."""
    panels = _in_order()
    return sorted({k for p in panels for k in (p.reading, *p.beside, *(kind for kind, _, _ in p.also)) if k})


def declare_panels(has: frozenset[str] = frozenset()) -> list[dict[str, Any]]:
    """Declarations of the panels that need nothing but what a run `has`, in the order of their places."""
    return [panel.declare() for panel in _in_order() if panel.needs in {"", *has}]


def _in_order() -> list[type[Panel]]:
    return sorted(Panel.variants.values(), key=lambda panel: panel.order)
