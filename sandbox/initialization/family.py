"""Initialization: how attention's projections start; every other weight starts the same in all arms."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from sandbox.attention.skeleton import MultiHeadAttention
from sandbox.foundations.idea import Idea
from sandbox.foundations.registry import Registry

Draw = Callable[[str], torch.Generator]
"""A generator for the named purpose, independent of all other purposes of the same seed."""


@dataclass(frozen=True)
class Layer:
    """One layer of a model that already holds the default start."""

    attention: MultiHeadAttention
    feed_forward: nn.Module
    draw: Draw


@dataclass(frozen=True, kw_only=True)
class Initialization(Idea, ABC):
    """Settings of one start, and how it overwrites a model that already holds the default start."""

    variants: ClassVar[Registry["Initialization"]] = Registry("initialization")
    needs_teacher: ClassVar[bool] = False
    """True where the start comes from a stored run, which the experiment looks up."""

    @abstractmethod
    def overwrite(self, model: nn.Module, layers: Sequence[Layer]) -> None:
        """Change weights of `layers` in place, drawing only from each layer's `draw`.

        `model` holds the layers; only a start that reaches beyond them looks at it.
        """
