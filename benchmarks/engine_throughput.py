"""Throughput of the torch engine against an eager loop over seeds, as paired ratios in one process.

    python benchmarks/engine_throughput.py [--quick] [--json]

Both sides train the same models on batches of the same shape: the engine as one group, the eager loop one
ordinary module and one torch.optim.AdamW (as torch sets it up by default) after the other. Blocks of steps
alternate, so that both meet the same machine; each pair of blocks gives one ratio of CPU time per
model-step, and the table shows the median of the ratios.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # read when torch loads its libraries

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median

import torch
from torch.nn.functional import cross_entropy

from sandbox.engine.device import one_thread
from sandbox.engine.optimizer import AdamW, Optimizer
from sandbox.engine.torch_engine import TorchGroup
from sandbox.models import Architecture
from sandbox.models.encoder import Encoder
from sandbox.models.visual_model import VisualModel
from sandbox.tasks import Task
from sandbox.tasks.sparse_modular_addition import SparseModularAddition


@dataclass(frozen=True)
class Setting:
    """What the engine needs to know of an arm."""

    task: Task
    model: Architecture
    batch_size: int
    optimizer: Optimizer = field(default_factory=AdamW)
    steps: int = 1_000_000
    reference_start: bool = False


@dataclass(frozen=True)
class Shape:
    """A model and its sizes, how many seeds, the ratio that is owed, and the steps of a block."""

    name: str
    model: Architecture
    length: int
    batch_size: int
    n_seeds: int
    target: float
    block: int

    def setting(self) -> Setting:
        """The shape as an arm on sparse modular addition."""
        task = SparseModularAddition(length=self.length, n_train=1024, n_test=256, split="overlapping")
        return Setting(task, self.model, self.batch_size)


def wide(d_model: int, n_layers: int) -> Encoder:
    """The encoder with a feed-forward part of four widths."""
    return Encoder(d_model=d_model, n_heads=2, n_layers=n_layers, d_ff=4 * d_model)


SHAPES = [
    Shape("visual model d2 b32 L12", VisualModel(), 12, 32, 32, 5.0, 20),
    Shape("encoder d16 b256 L8", wide(16, 1), 8, 256, 4, 0.95, 6),
    Shape("encoder d32 b256 L16, 2 layers", wide(32, 2), 16, 256, 2, 0.95, 3),
    Shape("encoder d64 b256 L16, 2 layers", wide(64, 2), 16, 256, 2, 0.95, 1),
    Shape("encoder d64 b32 L128", wide(64, 1), 128, 32, 2, 0.95, 2),
]


def eager_loop(setting: Setting, seeds: range) -> Callable[[int], None]:
    """Train one ordinary module per seed, one after the other, in the usual way."""
    runs = []
    for seed in seeds:
        data, module = setting.task.data(seed), setting.model.build(setting.task, seed)
        optimizer = torch.optim.AdamW(module.parameters(), lr=setting.optimizer.learning_rate)  # type: ignore[attr-defined]
        tokens, targets = torch.from_numpy(data.train_tokens), torch.from_numpy(data.train_targets).long()
        runs.append((module, optimizer, tokens, targets, torch.Generator().manual_seed(seed)))

    def advance(n_steps: int) -> None:
        for module, optimizer, tokens, targets, generator in runs:
            order = torch.randperm(len(tokens), generator=generator)
            for step in range(n_steps):
                start = step * setting.batch_size % (len(tokens) - setting.batch_size + 1)
                rows = order[start : start + setting.batch_size]
                optimizer.zero_grad()
                cross_entropy(module(tokens[rows].long()), targets[rows]).backward()
                optimizer.step()

    return advance


def cpu_ms(advance: Callable[[int], object], shape: Shape) -> float:
    """CPU milliseconds per model-step of one block."""
    start = time.process_time()
    advance(shape.block)
    return 1e3 * (time.process_time() - start) / (shape.block * shape.n_seeds)


def compare(shape: Shape, n_pairs: int) -> dict[str, float | str | int]:
    """Medians over alternating blocks; the order within a pair alternates too."""
    setting, seeds = shape.setting(), range(shape.n_seeds)
    group = TorchGroup(setting, seeds)
    sides = {"engine": group.advance, "eager": eager_loop(setting, seeds)}
    for advance in sides.values():
        advance(shape.block)
    times: dict[str, list[float]] = {"engine": [], "eager": []}
    for pair in range(n_pairs):
        for name in sorted(sides, reverse=bool(pair % 2)):
            times[name].append(cpu_ms(sides[name], shape))
    ratios = [eager / engine for eager, engine in zip(times["eager"], times["engine"], strict=True)]
    return {
        "shape": shape.name,
        "seeds": shape.n_seeds,
        "eager_ms": median(times["eager"]),
        "engine_ms": median(times["engine"]),
        "ratio": median(ratios),
        "target": shape.target,
    }


def main() -> int:
    """Print the table; the exit code is 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="5 pairs of blocks instead of 15")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    options = parser.parse_args()
    one_thread()
    rows = [compare(shape, 5 if options.quick else 15) for shape in SHAPES]
    if options.json:
        print(json.dumps({"torch": torch.__version__, "rows": rows}))
    else:
        print("| shape | seeds | eager ms | engine ms | ratio | target |\n|---|---|---|---|---|---|")
        for row in rows:
            print(
                f"| {row['shape']} | {row['seeds']} | {row['eager_ms']:.3f} | {row['engine_ms']:.3f} "
                f"| {row['ratio']:.2f} | {row['target']} |"
            )
        print(f"\nCPU time per model-step, one thread, torch {torch.__version__}.")
    return int(any(row["ratio"] < row["target"] for row in rows))  # type: ignore[operator]


if __name__ == "__main__":
    sys.exit(main())
