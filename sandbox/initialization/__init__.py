"""Initializations of attention's projections, one file each."""

from sandbox.foundations.registry import discover
from sandbox.initialization.family import Initialization

discover(__name__, __path__)

__all__ = ["Initialization"]
