"""Step time of every arm as a ratio to the standard arm, as paired blocks in one process.

    python benchmarks/arm_step_time.py [--preset NAME] [--arm SPEC]... [--quick] [--json]

Every kind an arm may name is measured at its defaults, each in the model, task and seeds of the preset.
Blocks of steps of the arm and of the standard arm alternate, so that both meet the same machine; each pair of
blocks gives one ratio of CPU time, and the table shows the median and the quartiles of the ratios. The first
row is the standard arm against a second copy of itself: what it differs from 1 by is noise.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # read when torch loads its libraries

import argparse
import json
import sys
import time
from dataclasses import replace
from statistics import median, quantiles
from typing import Any

import torch

from sandbox.engine.choice import choose_engine, group_for
from sandbox.engine.device import one_thread
from sandbox.engine.torch_engine import TorchGroup
from sandbox.experiment.arm import SLOTS, arm_kinds, parse_arm
from sandbox.experiment.experiment import Experiment, from_plain_experiment
from sandbox.experiment.presets import preset
from sandbox.foundations.spec import STANDARD

BLOCK_SECONDS = 0.08  # of one block: long against the clock, short against what disturbs the machine
PAIRS, QUICK_PAIRS = 21, 7
NOISE = 0.05  # above a target that is still called reached: the first row shows as much on a busy machine
TARGETS = {"spectral": 1.1, "preconditioned": 1.15, "conditioned-init": 1.0}


def differing(experiment: Experiment) -> list[str]:
    """Every kind that changes the preset's model and needs no stored run."""
    return [
        kind
        for kind, slot in arm_kinds().items()
        if not getattr(SLOTS[slot][kind], "needs_teacher", False)
        and replace(experiment.model, **parse_arm(kind).changes) != experiment.model
    ]


def group_of(plain: dict[str, Any], arm: str, engine: str) -> TorchGroup:
    """The preset with this arm alone; with `auto`, on the engine that a run would take."""
    experiment = from_plain_experiment({**plain, "arms": [arm]})
    setting = experiment.setting(experiment.arms[0].name)
    return group_for(setting, experiment.seeds, "cpu", choose_engine(setting, wanted=engine).engine)


def cpu_seconds(group: TorchGroup, n_steps: int) -> float:
    """CPU time of `n_steps` updates of the whole group."""
    start = time.process_time()
    group.advance(n_steps)
    return time.process_time() - start


def compare(group: TorchGroup, standard: TorchGroup, n_pairs: int) -> dict[str, Any]:
    """Ratios over alternating blocks; the order within a pair alternates too."""
    group.advance(3)
    n_steps = max(1, round(BLOCK_SECONDS * 5 / cpu_seconds(standard, 5)))
    ratios, seconds = [], []
    for pair in range(n_pairs):
        if pair % 2:
            theirs, ours = cpu_seconds(standard, n_steps), cpu_seconds(group, n_steps)
        else:
            ours, theirs = cpu_seconds(group, n_steps), cpu_seconds(standard, n_steps)
        ratios.append(ours / theirs)
        seconds.append(ours / n_steps)
    low, _, high = quantiles(ratios, n=4)
    return {"ms": 1e3 * median(seconds), "ratio": median(ratios), "low": low, "high": high}


def main() -> int:
    """Print the table; the exit code is 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--preset", default="conditioned against standard", help="what is trained")
    parser.add_argument("--arm", action="append", help="measure these instead of every kind")
    parser.add_argument("--engine", choices=("torch", "native", "auto"), default="torch")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_PAIRS} pairs of blocks, not {PAIRS}")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    options = parser.parse_args()
    one_thread()
    plain = dict(preset(options.preset).experiment)
    arms = options.arm or differing(from_plain_experiment(plain))
    standard = group_of(plain, STANDARD, options.engine)
    standard.advance(3)
    rows = []
    for arm in (STANDARD, *arms):
        group = group_of(plain, arm, options.engine)
        row = compare(group, standard, QUICK_PAIRS if options.quick else PAIRS)
        rows.append({"arm": arm, "parameters": group.layout.size, **row, "target": TARGETS.get(arm)})
    if options.json:
        print(json.dumps({"torch": torch.__version__, "preset": options.preset, "rows": rows}))
    else:
        print("| arm | parameters | ms per step | ratio | quartiles | target |\n|---|---|---|---|---|---|")
        for row in rows:
            target = "" if row["target"] is None else f"{row['target']:.2f}"
            print(
                f"| {row['arm']} | {row['parameters']} | {row['ms']:.2f} | {row['ratio']:.2f} "
                f"| {row['low']:.2f} to {row['high']:.2f} | {target} |"
            )
        print(
            f"\n{options.preset}: CPU time of one update of all {len(standard.seeds)} seeds, one thread, "
            f"{options.engine} engine, torch {torch.__version__}."
        )
    return int(any(row["target"] and row["ratio"] > row["target"] + NOISE for row in rows))


if __name__ == "__main__":
    sys.exit(main())
