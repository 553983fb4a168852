"""Setting: all that fixes the numbers of one arm, and the pace at which an experiment trains."""

from dataclasses import dataclass

from sandbox.engine.optimizer import Optimizer
from sandbox.foundations.knobs import Knobs, knob
from sandbox.models import Architecture
from sandbox.tasks import Task


@dataclass(frozen=True, kw_only=True)
class Pace(Knobs):
    """How long and in which portions an experiment trains."""

    batch_size: int = knob(128, "Batch size", low=1, high=4096, step=1)
    steps: int = knob(1500, "Steps", low=1, high=1_000_000, step=1, help="One step is one optimizer update.")
    evaluate_every: int = knob(
        20,
        "Evaluate every",
        low=1,
        high=100_000,
        step=1,
        help="Steps between evaluations on the full sets.",
        expert=True,
    )
    reference_start: bool = knob(
        False,
        "Reference start",
        help="Draw data and weights in the published code's order, so that first losses agree with it.",
        expert=True,
    )


@dataclass(frozen=True)
class ArmSetting:
    """All that fixes the numbers of one arm."""

    task: Task
    model: Architecture
    optimizer: Optimizer
    batch_size: int
    steps: int
    seeds: tuple[int, ...]
    evaluate_every: int
    reference_start: bool
