"""Seeding: independent random streams handed down from one seed; no global random state."""

import torch

from sandbox.foundations.streams import MAX_SEED, numpy_generator, stream

__all__ = ["MAX_SEED", "numpy_generator", "stream", "torch_generator"]


def torch_generator(seed: int, *purpose: str | int) -> torch.Generator:
    """A CPU torch generator for one purpose; equal arguments give equal draws."""
    return torch.Generator().manual_seed(stream(seed, *purpose))
