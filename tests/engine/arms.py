"""Small arms for the engine's tests: both models, with and without stacking, learnable in a few steps."""

from dataclasses import dataclass, field

from sandbox.engine.optimizer import AdamW, Optimizer
from sandbox.models import Architecture
from sandbox.models.encoder import Encoder
from sandbox.models.visual_model import VisualModel
from sandbox.tasks import Task
from sandbox.tasks.sparse_modular_addition import SparseModularAddition


@dataclass(frozen=True)
class Setting:
    """What a group asks of an arm."""

    model: Architecture
    batch_size: int
    task: Task = field(default_factory=lambda: SparseModularAddition(n_train=300, n_test=200))
    optimizer: Optimizer = field(default_factory=lambda: AdamW(learning_rate=1e-2, clip_norm=0.5))
    steps: int = 40
    reference_start: bool = False


ARMS = {
    "visual model, stacked": Setting(VisualModel(), 32),
    "visual model, one by one": Setting(VisualModel(), 21),
    "encoder, stacked": Setting(Encoder(d_model=12, n_heads=3, d_ff=20), 32),
    "encoder, one by one": Setting(Encoder(d_model=12, n_heads=3, d_ff=20, n_layers=2), 35),
}
