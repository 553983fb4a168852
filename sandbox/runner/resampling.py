"""Resampling: bootstrap intervals from a process of their own, for processes that must stay light."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from sandbox.foundations.errors import RunUnavailable

PATIENCE = 60.0
ROOT = Path(__file__).resolve().parents[2]


def intervals(values: tuple[tuple[float, ...], ...], seed: int = 0) -> tuple[tuple[float, float], ...]:
    """The 95 % percentile bootstrap interval of each row's mean over its columns; (NaN, NaN) where none is.

    Takes a second or two, most of which is the start of the process. RunUnavailable where it fails.
    """
    asked = json.dumps({"values": values, "seed": seed})
    try:
        done = subprocess.run(
            [sys.executable, "-m", "sandbox.mathematics.bootstrap"],
            input=asked,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise RunUnavailable(
            f"The bootstrap did not answer within {PATIENCE:g} s; compare fewer runs, or try again."
        ) from late
    if done.returncode:
        said = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
        raise RunUnavailable(f"The bootstrap failed: {said[0][:200]}; the other intervals are not affected.")
    answer = json.loads(done.stdout)
    return tuple((float(a), float(b)) for a, b in zip(answer["low"], answer["high"], strict=True))


def rows(values: np.ndarray) -> tuple[tuple[float, ...], ...]:
    """An array (point, seed) as `intervals` takes it."""
    return tuple(tuple(float(v) for v in row) for row in values)
