"""Projection conditionings, one file each."""

from sandbox.conditioning.projection.family import ProjectionConditioning
from sandbox.foundations.registry import discover

discover(__name__, __path__)

__all__ = ["ProjectionConditioning"]
