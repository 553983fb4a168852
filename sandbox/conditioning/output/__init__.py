"""Output conditionings, one file each."""

from sandbox.conditioning.output.family import OutputConditioning
from sandbox.foundations.registry import discover

discover(__name__, __path__)

__all__ = ["OutputConditioning"]
