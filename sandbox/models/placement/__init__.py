"""Normalization placements, one file each."""

from sandbox.foundations.registry import discover
from sandbox.models.placement.family import Placement

discover(__name__, __path__)

__all__ = ["Placement"]
