"""Softmax temperatures, one file each."""

from sandbox.conditioning.temperature.family import Temperature
from sandbox.foundations.registry import discover

discover(__name__, __path__)

__all__ = ["Temperature"]
