"""The native engine against an eager loop with torch.optim, paired in one process: time per model-step.

Blocks of steps alternate between the two sides in one process on one thread; each pair gives one ratio of CPU
time per model-step, and the table shows the median of the ratios. Then the longest call of a wide encoder.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # read when torch loads its libraries

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import median
from unittest.mock import patch

import torch
from engine_throughput import Setting, eager_loop, wide

from sandbox.engine.device import one_thread
from sandbox.engine.native.group import NativeGroup
from sandbox.engine.optimizer import Adam
from sandbox.foundations.kernels import found_build
from sandbox.models import Architecture
from sandbox.models.encoder import Encoder
from sandbox.models.visual_model import VisualModel
from sandbox.tasks.sparse_modular_addition import SparseModularAddition

MOST_OF_ONE = 1.4
"""What a model-step with 32 seeds may cost, in model-steps with one."""

MOST_MS = 20
"""Longest time a call may keep its caller waiting."""


@dataclass(frozen=True)
class Shape:
    """A model and its sizes, how many seeds, the ratio that is owed, and how many steps a block has."""

    name: str
    model: Architecture
    n_seeds: int
    target: float
    eager_steps: int
    native_steps: int
    length: int = 12
    batch_size: int = 32

    def setting(self) -> Setting:
        """The shape as an arm on sparse modular addition, with Adam as published."""
        task = SparseModularAddition(length=self.length, split="overlapping")
        return Setting(task, self.model, self.batch_size, Adam(learning_rate=3e-3))


def reader(d_model: int, n_layers: int) -> Encoder:
    """The encoder that reads one token, so that its last layer has one query."""
    return replace(wide(d_model, n_layers), readout="last")


SHAPES = [
    Shape("visual model d2, one seed", VisualModel(), 1, 100, 64, 640),
    Shape("visual model d2, 32 seeds", VisualModel(), 32, 100, 4, 640),
    Shape("visual model d8, 32 seeds", VisualModel(d_model=8), 32, 100, 4, 128),
    Shape("encoder d16 b256 L8", wide(16, 1), 4, 7, 6, 24, 8, 256),
    Shape("encoder d32 b128 L12", wide(32, 1), 3, 2.5, 4, 12, 12, 128),
    Shape("encoder d32 b256 L16, 2 layers", wide(32, 2), 2, 2.5, 3, 6, 16, 256),
    Shape("encoder d64 b256 L16, 2 layers", wide(64, 2), 1, 1.7, 2, 3, 16, 256),
    Shape("encoder d64 b32 L128", wide(64, 1), 1, 1, 3, 4, 128, 32),
    Shape("read-out token, d16 b256 L8", reader(16, 1), 4, 15, 6, 48, 8, 256),
    Shape("read-out token, d32 b256 L16, 2 layers", reader(32, 2), 2, 3.5, 3, 8, 16, 256),
    Shape("read-out token, d64 b256 L16, 2 layers", reader(64, 2), 1, 2.3, 2, 3, 16, 256),
    Shape("read-out token, d64 b32 L128", reader(64, 1), 1, 1, 3, 6, 128, 32),
]
WIDEST = Encoder(d_model=256, n_heads=16, n_layers=1, d_ff=1024)


def cpu_us(advance: Callable[[int], object], n_steps: int, n_seeds: int) -> float:
    """CPU microseconds per model-step of one block."""
    start = time.process_time()
    advance(n_steps)
    return 1e6 * (time.process_time() - start) / (n_steps * n_seeds)


def compare(shape: Shape, n_pairs: int) -> dict[str, float | str | int]:
    """Medians over alternating blocks; the order within a pair alternates too."""
    setting, seeds = shape.setting(), range(shape.n_seeds)
    sides = {
        "eager": (eager_loop(setting, seeds), shape.eager_steps),
        "native": (NativeGroup(setting, seeds).advance, shape.native_steps),
    }
    for advance, steps in sides.values():
        advance(steps)
    times: dict[str, list[float]] = {"eager": [], "native": []}
    for pair in range(n_pairs):
        for name in sorted(sides, reverse=bool(pair % 2)):
            times[name].append(cpu_us(*sides[name], shape.n_seeds))
    return {
        "shape": shape.name,
        "seeds": shape.n_seeds,
        "eager_us": median(times["eager"]),
        "native_us": median(times["native"]),
        "ratio": median(e / n for e, n in zip(times["eager"], times["native"], strict=True)),
        "target": shape.target,
    }


def longest_call_ms(n_steps: int) -> float:
    """CPU milliseconds of the longest call while the widest encoder trains on sequences of 128 tokens."""
    setting = Shape("", WIDEST, 1, 0, 0, 0, 128, 32).setting()
    group = NativeGroup(setting, range(1))
    took = []
    go_on = group._kernels.sandbox_go_on

    def timed(*arguments: object) -> int:
        start = time.thread_time()
        done: int = go_on(*arguments)
        took.append(1e3 * (time.thread_time() - start))
        return done

    with patch.object(group._kernels, "sandbox_go_on", timed):
        group.advance(n_steps)
    return max(took)


def main() -> int:
    """Print the table; the exit code is 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="5 pairs of blocks instead of 15")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    options = parser.parse_args()
    build, why = found_build()
    if not build:
        print(f"Nothing to measure: {why}.")
        return 0
    one_thread()
    rows = [compare(shape, 5 if options.quick else 15) for shape in SHAPES]
    of_one = rows[1]["native_us"] / rows[0]["native_us"]  # type: ignore[operator]
    longest = longest_call_ms(1 if options.quick else 4)
    if options.json:
        found = {"build": build, "rows": rows, "32 to 1": of_one, "longest call ms": longest}
        print(json.dumps({"torch": torch.__version__, **found}))
    else:
        print("| shape | seeds | eager us | native us | ratio | target |\n|---|---|---|---|---|---|")
        for row in rows:
            print(
                f"| {row['shape']} | {row['seeds']} | {row['eager_us']:.0f} | {row['native_us']:.1f} "
                f"| {row['ratio']:.1f} | {row['target']} |"
            )
        print(f"\nA model-step of 32 seeds costs {of_one:.2f} of one seed's (owed: at most {MOST_OF_ONE}).")
        print(f"The longest call of an encoder of width 256 took {longest:.1f} ms (owed: at most {MOST_MS}).")
        print(f"CPU time per model-step, one thread, build {build}, torch {torch.__version__}.")
    slow = any(row["ratio"] < row["target"] for row in rows)  # type: ignore[operator]
    return int(slow or of_one > MOST_OF_ONE or longest > MOST_MS)


if __name__ == "__main__":
    sys.exit(main())
