"""The default start of a model: PyTorch's distributions, one independent stream per parameter."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from sandbox.foundations.seeding import torch_generator


@contextmanager
def untouched_global_randomness() -> Iterator[None]:
    """Let modules draw their throw-away default weights without moving the global random state."""
    with torch.random.fork_rng(devices=[]):
        yield


def draw_default(model: nn.Module, seed: int, embedding_std: float) -> None:
    """Fill linear layers U(-1/sqrt(in), 1/sqrt(in)) as PyTorch does, embeddings N(0, embedding_std^2).

    Every parameter has its own stream, named by its place, so that models that differ in one part
    share the starting weights of all the others.
    """
    with torch.no_grad():
        for name, module in model.named_modules():
            if isinstance(module, nn.Linear):
                bound = 1 / math.sqrt(module.in_features)
                for kind, parameter in module.named_parameters(recurse=False):
                    parameter.uniform_(-bound, bound, generator=torch_generator(seed, "weights", name, kind))
            elif isinstance(module, nn.Embedding):
                module.weight.normal_(std=embedding_std, generator=torch_generator(seed, "weights", name))
