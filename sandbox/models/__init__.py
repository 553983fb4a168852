"""Architectures, one file each, written for one run as ordinary modules."""

from sandbox.foundations.registry import discover
from sandbox.models.family import Architecture, SequenceClassifier

discover(__name__, __path__)

__all__ = ["Architecture", "SequenceClassifier"]
