"""A run's weights as one safetensors file: every parameter under its own name, and what it was."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from sandbox.foundations.errors import InvalidData
from sandbox.store.described import numbers_of
from sandbox.store.run_reader import Run


def write_weights(run: Run, path: Path, step: int | None = None) -> None:
    """Write the weights stored at `step` (default: the last step that stores every arm's) to `path`.

    A tensor is called `arm/seed/parameter` and has the parameter's own shape and type. The metadata
    are texts, as the format wants them: `run`, `step`, `arms`, `seeds` and `experiment` as JSON,
    `format` for the readers that ask for it. Raises InvalidData where none are stored there.
    """
    at = last_common_step(run) if step is None else step
    tensors = {name: array for arm in run.arms for name, array in _tensors(run, arm, at)}
    metadata = {
        "format": "np",
        "run": run.id,
        "step": str(at),
        "arms": json.dumps(run.arms),
        "seeds": json.dumps(run.seeds),
        "experiment": json.dumps(run.experiment, sort_keys=True),
        "names": "arm/seed/parameter",
    }
    save_file(tensors, path, metadata)


def last_common_step(run: Run) -> int:
    """The last step at which the weights of every arm are stored; InvalidData where there is none."""
    common = set.intersection(*({int(step) for step in run.weight_steps(arm)} for arm in run.arms))
    if not common:
        raise InvalidData(f"Run {run.id} stores no weights of all its arms; train it on, then export them.")
    return max(common)


def _tensors(run: Run, arm: str, step: int) -> Iterator[tuple[str, np.ndarray]]:
    theta = run.weights(step, arm)
    layout: dict[str, Any] | None = run.layout(arm)
    if layout is None:
        raise InvalidData(f"Run {run.id} records no names for the weights of arm {arm!r}; export it as zip.")
    start = 0
    if (numbers := numbers_of(layout)) > theta.shape[1]:
        raise InvalidData(
            f"Run {run.id} names {numbers} weights of arm {arm!r} and stores {theta.shape[1]} "
            f"at step {step}; restore it from a copy."
        )
    for name, shape in zip(layout["names"], layout["shapes"], strict=True):
        size = int(np.prod(shape, dtype=np.int64))
        for seed, row in zip(run.seeds, theta, strict=True):
            yield f"{arm}/{seed}/{name}", np.array(row[start : start + size]).reshape(shape)
        start += size
