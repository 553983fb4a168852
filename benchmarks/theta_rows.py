"""What theta's bracket costs per 1,000 rows of softmax, by length, with the first call of a fresh process.

    python benchmarks/theta_rows.py [--rows N]

CPU milliseconds on one thread. "greedy" stops at a gap of 1e-4, which closed forms and LPT reach; "closed" at
1e-6; "exact" searches rows of up to 24 keys completely. The last line compares the goal of 50 ms per 1,000
rows of 64 keys with the first call, imports left out.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # read when NumPy loads its libraries

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sandbox.mathematics.theta import CHEAPLY_SEARCHED_KEYS, theta_bracket, theta_certificates

LENGTHS = (12, 16, 24, 32, 64, 128, 512, 2048)
SPREADS = (0.1, 1.0, 3.0, 6.0)  # of the scores: flat rows to rows with a dominant key
GOAL_MS = 50.0


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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    n_rows = parser.parse_args().rows
    rows = rows_of(n_rows, 64)
    first = cpu_ms(lambda: theta_bracket(rows)) * 1000 / n_rows
    print(
        "| keys | greedy | closed | exact | certificates | widest bracket | rows exact |\n|---|" + "---|" * 6
    )
    for n_keys in LENGTHS:
        weights = rows_of(n_rows, n_keys)
        times = [
            min(cpu_ms(act) for _ in range(3)) * 1000 / n_rows
            for act in (
                lambda w=weights: theta_bracket(w, gap=1e-4, exact_to=0),
                lambda w=weights: theta_bracket(w, exact_to=CHEAPLY_SEARCHED_KEYS),
                lambda w=weights: theta_bracket(w),
                lambda w=weights: theta_certificates(w),
            )
        ]
        lower, upper, exact = theta_bracket(weights)
        cells = " | ".join(f"{ms:.1f}" for ms in times)
        print(f"| {n_keys} | {cells} | {(upper - lower).max():.1e} | {exact.mean():.0%} |")
    print(f"\nfirst call, 64 keys: {first:.1f} ms per 1,000 rows, {first / GOAL_MS:.2f} of {GOAL_MS:g} ms")


if __name__ == "__main__":
    main()
