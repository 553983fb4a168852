"""Small arms for the engine's tests: both models, with and without stacking, learnable in a few steps."""

from dataclasses import dataclass, field

from sandbox.conditioning.output.preconditioned import Preconditioned
from sandbox.conditioning.projection.spectral import SpectralConditioning
from sandbox.engine.optimizer import AdamW, Optimizer
from sandbox.models import Architecture
from sandbox.models.encoder import Encoder
from sandbox.models.placement.post_ln import PostLN
from sandbox.models.visual_model import VisualModel
from sandbox.tasks import Task
from sandbox.tasks.listops import ListOps
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

SHORT_LISTOPS = ListOps(max_length=12, max_depth=3, n_train=200, n_test=100)

OTHER_ARMS = {
    "visual model, wide": Setting(VisualModel(d_model=8), 32),
    # Odd sizes put the weights of a stack off the lines that matrix kernels like.
    "visual model, odd sizes": Setting(VisualModel(d_model=3, d_ff=7), 32),
    "encoder, odd sizes": Setting(Encoder(d_model=6, n_heads=3, d_ff=7), 32),
    "encoder, odd weights": Setting(Encoder(d_model=10, n_heads=1, d_ff=9), 64),
    "encoder, conditioned": Setting(
        Encoder(
            d_model=16,
            d_ff=32,
            placement=PostLN(),
            projection=SpectralConditioning(shift=0.5),
            output=Preconditioned(differentiate=True),
        ),
        32,
    ),
    "encoder with padding": Setting(Encoder(d_model=16, d_ff=32), 32, SHORT_LISTOPS),
}
