"""Write the golden curves anew: `python -m tests.golden.regenerate`; say in CHANGELOG.md why they moved."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from sandbox.engine.device import one_thread
from sandbox.engine.torch_engine import TorchGroup
from sandbox.experiment.arm import arm_kinds, parse_arm
from sandbox.experiment.experiment import from_plain_experiment
from sandbox.initialization import Initialization
from sandbox.models.encoder import Encoder

CURVES = Path(__file__).with_name("curves.json")
STEPS = 20
KINDS_WITH_TEACHER = [kind for kind, variant in Initialization.variants.items() if variant.needs_teacher]
ADDITION = {"kind": "sparse modular addition", "n_test": 256}
LISTOPS = {"kind": "listops", "operators": "MIN MAX MED", "n_train": 640, "n_test": 64}
VISUAL = {
    "task": {"kind": "sparse modular addition", "split": "overlapping"},
    "model": {"kind": "visual model"},
    "optimizer": {"kind": "adam", "learning_rate": 3e-3},
    "batch_size": 32,
    "reference_start": True,
}


def settings() -> dict[str, dict[str, Any]]:
    """Standard and every arm that differs from it on both tasks, and the visual model's reference start.

    A start that comes from a stored run has no numbers of its own.
    """
    standard = Encoder()
    differing = [
        kind
        for kind in arm_kinds()
        if kind not in KINDS_WITH_TEACHER and replace(standard, **parse_arm(kind).changes) != standard
    ]
    encoder = {
        f"{task['kind']}, {kind}": {
            "task": task,
            "model": {"kind": "encoder"},
            "arms": [kind],
            "batch_size": 32,
        }
        for task in (ADDITION, LISTOPS)
        for kind in ("standard", *differing)
    }
    return encoder | {"visual model, reference start": VISUAL}


def curve(plain: dict[str, Any]) -> dict[str, list[list[float]]]:
    """Batch losses of 20 steps and the evaluation after them, for two seeds."""
    one_thread()
    experiment = from_plain_experiment(plain | {"steps": STEPS, "seeds": [0, 1]})
    group = TorchGroup(experiment.setting(experiment.arms[0].name), experiment.seeds)
    losses = group.advance(STEPS)
    final = group.evaluate()
    return {"loss": losses.astype(float).tolist(), "test_loss": [final["test_loss"].tolist()]}


if __name__ == "__main__":
    curves = {name: curve(plain) for name, plain in settings().items()}
    CURVES.write_text(json.dumps(curves, indent=1) + "\n", encoding="utf-8")
