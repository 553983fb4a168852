"""What each diagnostic costs, in CPU milliseconds per snapshot and in steps of the group that it looks at.

    python benchmarks/diagnostics_costs.py [--rounds N]

For the standard arm of three presets: its group is trained a little, then every diagnostic is asked `rounds`
times for the same snapshot, in a fresh view each time (what diagnostics share is paid by the first). Prints a
Markdown table of medians; the first row is the probe batch's forward pass, which all of them share.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # read when torch loads its libraries

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sandbox.diagnostics import Diagnostic, SnapshotView, probe_batch
from sandbox.engine.device import one_thread
from sandbox.engine.torch_engine import TorchGroup
from sandbox.experiment.experiment import load
from sandbox.experiment.presets import preset
from sandbox.foundations.answers import NotApplicable

PRESETS = ("paper default", "conditioned against standard", "fast listops")
SEEDS = (0, 1, 2)
WARM_UP = 20


def cpu_ms(act: Callable[[], object], rounds: int) -> float:
    """Median CPU milliseconds of `act`."""
    found = []
    for _ in range(rounds):
        began = time.process_time()
        act()
        found.append(1000 * (time.process_time() - began))
    return median(found)


def costs(name: str, rounds: int) -> dict[str, tuple[float, float] | None]:
    """Milliseconds and steps by row; None where a diagnostic does not apply to the model."""
    plain = dict(preset(name).experiment)
    experiment = load(plain | {"seeds": list(SEEDS), "arms": [{"name": "standard"}]})
    setting = experiment.setting("standard")
    group = TorchGroup(setting, SEEDS)
    group.advance(WARM_UP)
    step = cpu_ms(lambda: group.advance(10), rounds) / 10
    probe = probe_batch(experiment.task, group.task_data[0], SEEDS[0])
    basis: dict[str, np.ndarray] = {}

    def look() -> SnapshotView:
        return SnapshotView.of(group, probe, basis)

    watched = cpu_ms(look, rounds)
    found: dict[str, tuple[float, float] | None] = {
        "one step": (step, 1.0),
        "probe forward": (watched, watched / step),
    }
    for kind, diagnostic in Diagnostic.variants.items():
        asked = diagnostic()
        if isinstance(asked.read(look()), NotApplicable):
            found[f"{kind} ({diagnostic.cost})"] = None
            continue
        times = []
        for _ in range(rounds if diagnostic.cost == "cheap" else 1):
            view = look()
            times.append(cpu_ms(lambda view=view, asked=asked: asked.read(view), 1))
        found[f"{kind} ({diagnostic.cost})"] = (median(times), median(times) / step)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    one_thread()
    tables = {name: costs(name, rounds) for name in PRESETS}
    rows = list(dict.fromkeys(row for table in tables.values() for row in table))
    print("| CPU ms (in steps), three seeds | " + " | ".join(PRESETS) + " |\n|---|" + "---|" * len(PRESETS))
    for row in rows:
        cells = []
        for table in tables.values():
            cost = table.get(row)
            cells.append("does not apply" if cost is None else f"{cost[0]:.2f} ({cost[1]:.1f})")
        print(f"| {row} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
