"""Token conditionings, one file each."""

from sandbox.conditioning.tokens.family import TokenConditioning
from sandbox.foundations.registry import discover

discover(__name__, __path__)

__all__ = ["TokenConditioning"]
