"""Attention mechanism: how queries, keys and values become head outputs."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from sandbox.foundations.idea import Idea
from sandbox.foundations.registry import Registry


@dataclass(frozen=True, kw_only=True)
class Mechanism(Idea, ABC):
    """Settings of one mechanism, and the recipe for its module."""

    variants: ClassVar[Registry["Mechanism"]] = Registry("attention mechanism")

    @abstractmethod
    def build(self, d_head: int) -> nn.Module:
        """Return a module called with (query, key, value, visible, scores, weights).

        query, key, value: (batch, head, token, d_head); visible: (batch, token) bool or None;
        scores and weights: the skeleton's probes, to be applied to what they are named after.
        It answers head outputs (batch, head, token, d_head).
        """
