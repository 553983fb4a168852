"""Query and key normalizations, one file each."""

from sandbox.conditioning.query_key.family import QueryKeyNormalization
from sandbox.foundations.registry import discover

discover(__name__, __path__)

__all__ = ["QueryKeyNormalization"]
