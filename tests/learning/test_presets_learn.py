"""Presets keep what they say with either engine: they learn, within the CPU time that their names promise."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sandbox.foundations.kernels import found_build

ENGINES = ["torch", *(["native"] if found_build()[0] else [])]
pytestmark = [pytest.mark.slow, pytest.mark.parametrize("engine", ENGINES)]


def trained(folder: Path, engine: str, preset: str, *options: str) -> tuple[dict[str, Any], float]:
    """Train the preset's standard arm by the command line; best accuracy by seed, and CPU seconds in all."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = ("train", "--preset", preset, "--arm", "standard", "--engine", engine)
    finished = subprocess.run(
        [sys.executable, "-m", "sandbox", *command, *options, "--out", str(folder), "--json"],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    arm = json.loads(finished.stdout)["arms"]["standard"]
    return {seed: numbers["best"]["test_accuracy"] for seed, numbers in arm.items()}, seconds


def test_fast_listops_passes_75_percent_in_10_cpu_seconds(tmp_path: Path, engine: str):
    best, seconds = trained(tmp_path / "run", engine, "fast listops", "--steps", "60")
    assert best["0"] >= 0.75 and seconds <= 10


def test_one_minute_listops_passes_70_percent_in_60_cpu_seconds(tmp_path: Path, engine: str):
    best, seconds = trained(tmp_path / "run", engine, "one-minute listops", "--steps", "700")
    assert best["0"] >= 0.70 and seconds <= 60


def test_every_seed_of_conditioned_against_standard_passes_98_percent(tmp_path: Path, engine: str):
    best, _ = trained(tmp_path / "run", engine, "conditioned against standard")
    assert len(best) == 3 and min(best.values()) > 0.98
