"""The numbers of a run as `train --json` and `show` give them."""

from dataclasses import asdict
from typing import Any

import numpy as np

from sandbox.store import Run
from sandbox.store.summary import summarize

CURVES = ("loss", "train_loss", "train_accuracy", "test_loss", "test_accuracy")


def results(run: Run) -> dict[str, Any]:
    """Folder, state, and per arm and seed the final and best metrics with their steps."""
    status = run.status
    happened: dict[tuple[str | None, int | None, str], int] = {}
    for event in run.events():
        happened.setdefault((event.arm, event.seed, event.kind), event.step)
    return {
        "run": str(run.path),
        "id": run.id,
        "state": status["state"],
        "reason": status["reason"],
        "step": status["step"],
        "steps": run.experiment["steps"],
        "seconds": status["seconds"],
        "engines": run.meta("engines") or {},
        "arms": {
            arm: {
                str(seed): {
                    **_metrics(run, arm, index),
                    "diverged_at": happened.get((arm, seed, "nan")),
                    "reached_target_at": happened.get((arm, seed, "threshold")),
                }
                for index, seed in enumerate(run.seeds)
            }
            for arm in run.arms
        },
    }


def summary(run: Run) -> list[dict[str, Any]]:
    """The table under the curves, a dictionary per arm."""
    return [asdict(arm) for arm in summarize(run)]


def _metrics(run: Run, arm: str, seed: int) -> dict[str, dict[str, Any]]:
    final: dict[str, Any] = {}
    best: dict[str, Any] = {}
    for name in CURVES:
        steps, values = run.group_curve(name, arm)
        column = values[:, seed]
        if not len(steps):
            continue
        final[name] = float(column[-1])
        finite = np.isfinite(column)
        if finite.any():
            signed = np.where(finite, column if name.endswith("accuracy") else -column, -np.inf)
            at = int(signed.argmax())
            best[name], best[f"{name}_step"] = float(column[at]), int(steps[at])
    return {"final": final, "best": best}
