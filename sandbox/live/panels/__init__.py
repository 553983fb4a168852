"""The live view's panels: one file per picture, found by importing this folder."""

from sandbox.foundations.registry import discover
from sandbox.live.panels.family import (
    Curve,
    Panel,
    asked_kinds,
    columns_side_by_side,
    curve_columns,
    declare_panels,
    drawn_kinds,
    fact_columns,
    open_kinds,
    standard_columns,
)

discover(__name__, __path__)

__all__ = [
    "Curve",
    "Panel",
    "asked_kinds",
    "columns_side_by_side",
    "curve_columns",
    "declare_panels",
    "drawn_kinds",
    "fact_columns",
    "open_kinds",
    "standard_columns",
]
