"""What theta's bracket costs per 1,000 rows of softmax, by length, compiled and in NumPy alone.

    python benchmarks/theta_rows.py [--rows N]

CPU milliseconds on one thread, the least of three. "greedy" stops at a gap of 1e-4, which closed forms and
LPT reach; "closed" at 1e-6; "exact" searches rows of up to 24 keys completely. The last line compares the
goal of 5 ms per 1,000 rows of 64 keys with the first call, imports left out; without kernels it is 50 ms.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # read when NumPy loads its libraries

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sandbox.foundations.kernels import found_build
from sandbox.mathematics import theta_compiled
from sandbox.mathematics.theta import CHEAPLY_SEARCHED_KEYS, theta_bracket, theta_certificates

LENGTHS = (12, 16, 24, 32, 64, 128, 512, 2048)
SPREADS = (0.1, 1.0, 3.0, 6.0)  # of the scores: flat rows to rows with a dominant key
GOAL_MS, GOAL_MS_WITHOUT_KERNELS = 5.0, 50.0


def rows_of(n_rows: int, n_keys: int) -> np.ndarray:
    """Softmax rows of every spread in turn."""
    scores = np.random.default_rng(0).normal(size=(n_rows, n_keys))
    scores *= np.resize(SPREADS, n_rows)[:, None]
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def cpu_ms(act: Callable[[], object]) -> float:
    """CPU milliseconds of one call."""
    began = time.process_time()
    act()
    return 1000 * (time.process_time() - began)


def costs(weights: np.ndarray) -> list[float]:
    """Milliseconds per 1,000 rows: greedy, closed, exact, certificates."""
    acts: tuple[Callable[[], object], ...] = (
        lambda: theta_bracket(weights, gap=1e-4, exact_to=0),
        lambda: theta_bracket(weights, exact_to=CHEAPLY_SEARCHED_KEYS),
        lambda: theta_bracket(weights),
        lambda: theta_certificates(weights),
    )
    return [min(cpu_ms(act) for _ in range(3)) * 1000 / len(weights) for act in acts]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    n_rows = parser.parse_args().rows
    build, why = found_build()
    goal = GOAL_MS if build else GOAL_MS_WITHOUT_KERNELS
    rows = rows_of(n_rows, 64)
    first = cpu_ms(lambda: theta_bracket(rows)) * 1000 / n_rows
    print(f"kernels: {build or why}; load {os.getloadavg()[0]:.1f}\n")
    print("| keys | greedy | closed | exact | certificates | NumPy alone | widest bracket | rows exact |")
    print("|---|" + "---|" * 7)
    for n_keys in LENGTHS:
        weights = rows_of(n_rows, n_keys)
        compiled = " | ".join(f"{ms:.1f}" for ms in costs(weights)) if build else "- | - | - | -"
        with patch.object(theta_compiled, "found_build", lambda: ("", "left out")):
            plain = ", ".join(f"{ms:.1f}" for ms in costs(weights))
        lower, upper, exact = theta_bracket(weights)
        print(f"| {n_keys} | {compiled} | {plain} | {(upper - lower).max():.1e} | {exact.mean():.0%} |")
    print(f"\nfirst call, 64 keys: {first:.1f} ms per 1,000 rows, {first / goal:.2f} of {goal:g} ms")


if __name__ == "__main__":
    main()
