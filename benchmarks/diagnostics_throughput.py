"""Throughput with every live diagnostic on, against bare training, paired.

    python benchmarks/diagnostics_throughput.py [--pairs N] [--seconds S]

Two executions of the same preset in this process, turn about: *live* as a worker runs it (live readings,
costly diagnostics in their own process, events, checkpoints), *bare* with curves and evaluations alone.
Blocks of some seconds, from step 100 on: before it nearly every step is kept. Prints a Markdown table of
ratios: steps per CPU second of all blocks together, with and without the processes that read beside it (with
them: what a machine with one core would see), and the median over pairs of steps per second of the clock.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # read when torch loads its libraries

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sandbox.experiment.experiment import load
from sandbox.experiment.presets import preset
from sandbox.runner.costly_readings import CostlyReadings
from sandbox.runner.execution import Execution
from sandbox.runner.recording import Recorder, Snapshot
from sandbox.runner.training_events import TrainingEvents

PRESETS = ("conditioned against standard", "one-minute listops", "fast listops")
OWED = 0.85


FROM_STEP = 100


class Used(NamedTuple):
    """What one block took."""

    steps: int
    cpu: float
    """CPU seconds of this process."""
    beside: float
    """CPU seconds of readings beside it."""
    wall: float


class Bare(Recorder):
    """Records curves and evaluations, and reads nothing."""

    def readings(self, step: int) -> Snapshot:
        """No question asked."""
        return Snapshot(step, {})

    def weights(self, step: int) -> None:
        """No weights kept."""


def prepared(name: str, folder: Path, live: bool) -> Execution:
    """An execution of the preset, ready to be turned."""
    experiment = load(dict(preset(name).experiment))
    execution = Execution(experiment, folder, live=live)
    if not live:
        execution._costly = CostlyReadings(execution._writer, experiment.steps, share=0.0)
    execution._prepare(None)
    if not live:
        execution._recorder = Bare(experiment, execution._groups, execution._writer)
        execution._events = Quiet(
            execution._groups, execution._writer, execution._recorder, execution._costly
        )
    return execution


class Quiet(TrainingEvents):
    """Looks for nothing."""

    def turn(self, *_: object) -> None:
        """Nothing is looked for."""

    def kept(self, *_: object) -> None:
        """Nothing is looked for."""


def block(execution: Execution, seconds: float) -> Used:
    """Train for about `seconds` of the clock."""
    step, began = execution.step, time.perf_counter()
    cpu, beside = time.process_time(), seconds_beside(execution)
    while time.perf_counter() - began < seconds and execution.step < execution.experiment.steps:
        execution._turn()
    wall = time.perf_counter() - began
    cpu = time.process_time() - cpu
    return Used(execution.step - step, cpu, seconds_beside(execution) - beside, wall)


def seconds_beside(execution: Execution) -> float:
    """CPU seconds of readings that have ended and of the one under way."""
    done = resource.getrusage(resource.RUSAGE_CHILDREN)
    under_way = execution._costly._round
    told = under_way.side.spent() if under_way is not None else 0.0
    return done.ru_utime + done.ru_stime + told + execution._frames.spent


def measure(name: str, pairs: int, seconds: float) -> tuple[float, ...]:
    """Live over bare: steps per CPU second with and without what ran beside, per second; the last step."""
    with tempfile.TemporaryDirectory() as folder:
        live, bare = (prepared(name, Path(folder, word), word == "live") for word in ("live", "bare"))
        for execution in (live, bare):
            while execution.step < FROM_STEP:
                execution._turn()
        used: list[tuple[Used, Used]] = []
        while len(used) < pairs and max(live.step, bare.step) < 0.9 * live.experiment.steps:
            used.append((block(live, seconds), block(bare, seconds)))
        # All blocks together: a costly reading falls into one block and is paid for by many.
        on, off = (Used(*map(sum, zip(*side, strict=True))) for side in zip(*used, strict=True))
        all_cpu = (on.steps / (on.cpu + on.beside)) / (off.steps / off.cpu)
        cpu = (on.steps / on.cpu) / (off.steps / off.cpu)
        clock = median((a.steps / a.wall) / (b.steps / b.wall) for a, b in used if b.steps and a.steps)
        for execution in (live, bare):
            execution._opened.close()
        return all_cpu, cpu, clock, live.step


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--preset", choices=PRESETS, action="append")
    arguments = parser.parse_args()
    print("| live over bare | per CPU second, all | per CPU second, trainer | per second | to step | owed |")
    print("|---|---|---|---|---|---|")
    for name in arguments.preset or PRESETS:
        all_cpu, cpu, clock, step = measure(name, arguments.pairs, arguments.seconds)
        print(f"| {name} | {all_cpu:.2f} | {cpu:.2f} | {clock:.2f} | {step:g} | {OWED} |", flush=True)


if __name__ == "__main__":
    main()
