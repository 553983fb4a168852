"""What the native engine covers, and in a sentence why something stays with the torch engine."""

from sandbox.attention.causal import Causal
from sandbox.attention.softmax import Softmax
from sandbox.conditioning.output.direct import DirectOutput
from sandbox.conditioning.output.preconditioned import Preconditioned
from sandbox.conditioning.projection.plain import PlainProjection
from sandbox.conditioning.projection.sigma_reparam import SigmaReparam
from sandbox.conditioning.projection.spectral import SpectralConditioning
from sandbox.conditioning.projection.spectral_svd import SpectralSvd
from sandbox.conditioning.query_key.qk_l2 import L2QueryKey
from sandbox.conditioning.query_key.qk_plain import PlainQueryKey
from sandbox.conditioning.query_key.qk_rms import RmsQueryKey
from sandbox.conditioning.temperature.constant import ConstantTemperature
from sandbox.conditioning.temperature.sqrt_d import SqrtTemperature
from sandbox.conditioning.temperature.unit import UnitTemperature
from sandbox.conditioning.temperature.warm_up import WarmUpTemperature
from sandbox.conditioning.tokens.plain_tokens import PlainTokens
from sandbox.engine.optimizer import Adam, AdamW
from sandbox.engine.setting import GroupSetting
from sandbox.foundations.idea import Idea
from sandbox.foundations.kernels import found_build
from sandbox.models import Architecture
from sandbox.models.encoder import Encoder
from sandbox.models.placement.deepnorm import DeepNorm
from sandbox.models.placement.no_norm import NoNormalization
from sandbox.models.placement.post_ln import PostLN
from sandbox.models.placement.pre_ln import PreLN
from sandbox.models.visual_model import VisualModel
from sandbox.tasks import Task

MOST_TOKENS = 128
MOST_CLASSES = 64
MOST_PARAMETERS = 2**16  # of a visual model: beyond it torch's matrix kernels are as fast (measured)
BYTE_TOKENS = 256
"""Token ids that the kernels can tell apart: they read one byte per token."""

KNOWN: dict[str, tuple[type[Idea], ...]] = {
    "tokens": (PlainTokens,),
    "placement": (PreLN, PostLN, DeepNorm, NoNormalization),
    "mechanism": (Softmax, Causal),
    "projection": (PlainProjection, SpectralConditioning, SpectralSvd, SigmaReparam),
    "qk": (PlainQueryKey, L2QueryKey, RmsQueryKey),
    "temperature": (SqrtTemperature, UnitTemperature, ConstantTemperature, WarmUpTemperature),
    "output": (DirectOutput, Preconditioned),
}
"""What the kernels know of each slot of the encoder; every initialization is only a start."""


MOST_AUTOMATIC_WIDTH = 128
"""Of an encoder: torch's matrix products are as fast beyond it (measured), so `auto` leaves it to them."""


def not_automatic(setting: GroupSetting, device: str = "cpu") -> str:
    """Why `auto` takes the torch engine; empty where it takes the native one."""
    why, model = not_covered(setting, device), setting.model
    if not why and isinstance(model, Encoder) and model.d_model > MOST_AUTOMATIC_WIDTH:
        return f"width {model.d_model}: above {MOST_AUTOMATIC_WIDTH} the torch engine is as fast"
    return why


def not_covered(setting: GroupSetting, device: str = "cpu") -> str:
    """Why the torch engine trains this setting on this device; empty where the native engine can."""
    return found_build()[1] or foreign(setting, device)


def foreign(setting: GroupSetting, device: str = "cpu") -> str:
    """What of a setting the kernels do not know, whether or not they are built here."""
    task, optimizer = setting.task, setting.optimizer
    if device != "cpu":
        return "GPU: the native engine runs on the CPU alone"
    if type(optimizer) not in (Adam, AdamW):
        return f"the optimizer {optimizer.kind!r}: the native engine knows 'adam' and 'adamw'"
    if task.n_tokens > MOST_TOKENS:
        return f"length {task.n_tokens}: the native engine takes sequences of at most {MOST_TOKENS} tokens"
    if task.vocab_size > BYTE_TOKENS:
        return f"{task.vocab_size} token ids: the native engine takes at most {BYTE_TOKENS}"
    return _foreign_model(setting.model, task)


def _foreign_model(model: Architecture, task: Task) -> str:
    if isinstance(model, Encoder):
        return _foreign_encoder(model, task)
    if not isinstance(model, VisualModel):
        return f"the model {model.kind!r}: the native engine knows 'visual model' and 'encoder'"
    size = visual_parameters(model, task)
    if size > MOST_PARAMETERS:
        return f"{size} parameters: above {MOST_PARAMETERS} the torch engine is as fast"
    return ""


def _foreign_encoder(model: Encoder, task: Task) -> str:
    for slot, known in KNOWN.items():
        idea = getattr(model, slot)
        if type(idea) not in known:
            return f"{idea.kind}: the native engine has no kernel for it"
    if task.n_classes > MOST_CLASSES:
        return f"{task.n_classes} classes: the native engine takes at most {MOST_CLASSES}"
    return ""


def visual_parameters(model: VisualModel, task: Task) -> int:
    """Count of a visual model's parameters."""
    d, h = model.d_model, model.d_ff
    return (model.n_embeddings + task.n_tokens + 1 + d) * d + 2 * d * h + h + d
