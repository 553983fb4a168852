"""Sublayers of a snapshot's blocks: each with its stream, its normalization and its matrices."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from sandbox.diagnostics.family import SnapshotView
from sandbox.diagnostics.operators import Function, function_of
from sandbox.diagnostics.replay import module_of, parts_of, replay
from sandbox.foundations.answers import NotApplicable
from sandbox.models.placement.family import Block

NO_BLOCKS = NotApplicable("This model has no residual stream with blocks around it.")
TITLES = {"attention": "attention", "feed_forward": "feed-forward"}


def replayed_blocks(
    view: SnapshotView, n_samples: int
) -> tuple[list[tuple[str, Block]], list[dict[str, np.ndarray]]] | NotApplicable:
    """The model's blocks by name, and per run what flows through its probes; or why there is none."""
    module = module_of(view)
    if isinstance(module, NotApplicable):
        return module
    blocks: list[tuple[str, Block]] = parts_of(module, Block)
    if not blocks:
        return NO_BLOCKS
    replayed = replay(view, n_samples)
    return replayed if isinstance(replayed, NotApplicable) else (blocks, replayed)


def normalization_of(norm: nn.Module) -> tuple[float, bool] | None:
    """epsilon, and whether it centres; None where the part normalizes nothing."""
    if isinstance(norm, nn.LayerNorm):
        return norm.eps, True
    if isinstance(norm, nn.RMSNorm):
        return float(norm.eps or 0.0), False
    return None


def gain_of(view: SnapshotView, norm: str, run: int, width: int) -> Float[np.ndarray, " channel"]:
    """The trained gain of a normalization, ones where it has none."""
    trained = view.weights.get(f"{norm}.weight")
    return np.ones(width) if trained is None else trained[run].astype(np.float64)


@dataclass(frozen=True)
class Sublayer:
    """Attention or feed-forward of one block, with one run's weights."""

    block: Block
    place: str
    """The block's name."""
    part: str
    """"attention" or "feed_forward"."""
    weights: dict[str, Tensor]

    @property
    def norm(self) -> nn.Module:
        """What normalizes for this sublayer."""
        found: nn.Module = getattr(self.block, f"norm_{self.part}")
        return found

    @property
    def matrices(self) -> tuple[str, str]:
        """The weights whose size scales the output: W_V and W_O, or the feed-forward part's two."""
        if self.part == "attention":
            return f"{self.place}.attention.w_value.weight", f"{self.place}.attention.w_out.weight"
        inner = [name for name, m in self.block.feed_forward.named_modules() if isinstance(m, nn.Linear)]
        first, second = (f"{self.place}.feed_forward.{name}.weight" for name in (inner[0], inner[-1]))
        return first, second

    def around(self) -> Function:
        """The stream after the sublayer."""
        return self._function(lambda block, x, sub, norm: block.around(x, sub, norm))

    def minus_identity(self) -> Function:
        """What is left of `around` without the stream itself."""
        return self._function(lambda block, x, sub, norm: block.around(x, sub, norm) - x)

    def branch(self) -> Function:
        """What the sublayer adds to the stream."""
        return self._function(lambda block, x, sub, norm: block.branch(x, sub, norm))

    def before_norm(self) -> Function:
        """The sum that a placement without an additive path normalizes."""
        return self._function(lambda block, x, sub, norm: block.identity * x + block.branch(x, sub, norm))

    def _function(self, ask: Any) -> Function:
        def asked(block: Block, x: Tensor) -> Tensor:
            sub = (lambda t: block.attention(t, None)) if self.part == "attention" else block.feed_forward
            out: Tensor = ask(block, x, sub, getattr(block, f"norm_{self.part}"))
            return out

        return function_of(self.block, self.place, self.weights, asked)


def sublayers(
    block: Block, place: str, weights: dict[str, Tensor], stream: Float[np.ndarray, "token channel"]
) -> Iterator[tuple[Sublayer, Float[np.ndarray, "token channel"]]]:
    """Both sublayers of a block, each with the stream that enters it; `stream` enters the block."""
    for part in TITLES:
        sublayer = Sublayer(block, place, part, weights)
        yield sublayer, stream
        with torch.no_grad():
            stream = sublayer.around()(torch.from_numpy(stream)).numpy()
