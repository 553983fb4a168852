"""Attention mechanism: how queries, keys and values become head outputs."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Bool, Float
from torch import Tensor, nn

from sandbox.foundations.idea import Idea
from sandbox.foundations.probes import Probe
from sandbox.foundations.registry import Registry


class AttentionModule(nn.Module, ABC):
    """Queries, keys and values in, head outputs out; what a mechanism builds for one layer."""

    scale: float | Tensor
    """What scores are multiplied by before softmax, 1 / temperature; read at every call."""

    def __init__(self, d_head: int) -> None:
        super().__init__()
        self.scale = 1 / math.sqrt(d_head)

    @abstractmethod
    def forward(
        self,
        query: Float[Tensor, "batch head token d_head"],
        key: Float[Tensor, "batch head token d_head"],
        value: Float[Tensor, "batch head token d_head"],
        visible: Bool[Tensor, "batch token"] | None,
        scores: Probe,
        weights: Probe,
    ) -> Float[Tensor, "batch head token d_head"]:
        """Head outputs.

        `visible` is false on padding, which may influence no visible token; None where there is none.
        `scores` and `weights` are the skeleton's probes, applied to what they are named after where the
        mechanism computes it: `weights` only to token-by-token rows that are at least 0 and sum to 1.
        """

    def skip(
        self, value: Float[Tensor, "batch head token d_head"], visible: Bool[Tensor, "batch token"] | None
    ) -> Float[Tensor, "batch head token d_head"] | None:
        """What is added to the head outputs after they are conditioned; None: nothing."""
        return None


@dataclass(frozen=True, kw_only=True)
class Mechanism(Idea, ABC):
    """Settings of one mechanism, and the recipe for its module."""

    variants: ClassVar[Registry["Mechanism"]] = Registry("attention mechanism")
    scaled: ClassVar[bool] = True
    """False where scores have no 1 / sqrt(d_head), so that a temperature means nothing."""
    no_token_weights: ClassVar[str] = ""
    """Why no layer has token-by-token attention weights to look at; empty where some layer has them."""

    @abstractmethod
    def build(self, d_head: int, n_heads: int, layer: int) -> AttentionModule:
        """Return the module of layer `layer`, counted from 0."""
