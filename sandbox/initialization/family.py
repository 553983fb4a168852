"""Initialization: how attention's projections start; every other weight starts the same in all arms."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch

from sandbox.attention.skeleton import MultiHeadAttention
from sandbox.foundations.idea import Idea
from sandbox.foundations.registry import Registry

Draw = Callable[[str], torch.Generator]
"""A generator for the named purpose, independent of all other purposes of the same seed."""


@dataclass(frozen=True, kw_only=True)
class Initialization(Idea, ABC):
    """Settings of one start, and how it overwrites a layer that already holds the default start."""

    variants: ClassVar[Registry["Initialization"]] = Registry("initialization")

    @abstractmethod
    def overwrite(self, attention: MultiHeadAttention, draw: Draw) -> None:
        """Change the weights of one attention layer in place, drawing only from `draw`."""
