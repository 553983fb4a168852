"""Attention mechanisms, one file each, and the skeleton that holds the slots."""

from sandbox.attention.family import Mechanism
from sandbox.foundations.registry import discover

discover(__name__, __path__)

__all__ = ["Mechanism"]
