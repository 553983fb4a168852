"""Norms of gradient and update by part of the model: which part learns, and which one jumps."""

import re

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from sandbox.engine.layout import Layout

PARTS: tuple[tuple[str, str], ...] = (
    ("embedding", r"tokens"),
    ("positions", r"positions"),
    ("query vector", r"query$"),
    ("W_Q", r"w_query|correct_query"),
    ("W_K", r"w_key|correct_key"),
    ("W_V", r"w_value|correct_value"),
    ("W_O", r"w_out"),
    ("feed-forward", r"feed_forward|up\.|down\."),
    ("norm gains", r"norm_|final|normalize_"),
    ("read-out", r"classify"),
)
"""Parts in the order of the forward pass, each with what its parameters' names contain; the first one counts.

Biases of a norm count with its gains, corrections with the matrix that they correct.
"""
ALL, OTHER = "all", "other"


def part_of(name: str) -> str:
    """The part that the parameter `name` belongs to."""
    return next((part for part, pattern in PARTS if re.search(pattern, name)), OTHER)


class PartNorms:
    """Euclidean norms of rows (run, stride) by part of a layout's trained parameters, and of all of them."""

    def __init__(self, layout: Layout) -> None:
        trained = layout.names[: len(layout.names) - layout.n_carried]
        stretches: list[tuple[str, int, int]] = []
        for name, start, size in zip(trained, layout.offsets, layout.sizes, strict=False):
            part = part_of(name)
            if stretches and stretches[-1][0] == part:
                stretches[-1] = part, stretches[-1][1], start + size
            else:
                stretches.append((part, start, start + size))
        known = [part for part, _ in PARTS] + [OTHER]
        present = {part for part, _, _ in stretches}
        self.names = (ALL, *(part for part in known if part in present))
        self._stretches = [(self.names.index(part), start, stop) for part, start, stop in stretches]

    def of(self, rows: Float[Tensor, "run stride"]) -> Float[Tensor, "run part"]:
        """The norms in the order of `names`, on the rows' device; nothing waits for it."""
        squares = rows.new_zeros((len(self.names), len(rows)))
        for place, start, stop in self._stretches:
            squares[place] += torch.linalg.vector_norm(rows[:, start:stop], dim=1) ** 2
        squares[0] = squares.sum(0)
        return squares.sqrt().T


def by_name(
    names: tuple[str, ...], norms: Float[Tensor, "two row part"], n_runs: int
) -> dict[str, Float[np.ndarray, " run"]]:
    """The norms as float64 on the host, one per run: "gradient: W_Q", "update: W_Q" and so on."""
    found = norms.cpu().numpy().astype(np.float64)[:, :n_runs]
    words = ("gradient", "update")
    return {f"{word}: {part}": found[i, :, j] for i, word in enumerate(words) for j, part in enumerate(names)}
