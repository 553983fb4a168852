"""What the native engine covers, and in a sentence why something stays with the torch engine."""

from sandbox.engine.optimizer import Adam, AdamW
from sandbox.engine.setting import GroupSetting
from sandbox.foundations.kernels import found_build
from sandbox.models import Architecture
from sandbox.models.visual_model import VisualModel
from sandbox.tasks import Task

MOST_TOKENS = 128
MOST_PARAMETERS = 2**16  # of a visual model: beyond it torch's matrix kernels are as fast (measured)
BYTE_TOKENS = 256
"""Token ids that the kernels can tell apart: they read one byte per token."""


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
    if not isinstance(model, VisualModel):
        return f"the model {model.kind!r}: the native engine knows 'visual model'"
    size = visual_parameters(model, task)
    if size > MOST_PARAMETERS:
        return f"{size} parameters: above {MOST_PARAMETERS} the torch engine is as fast"
    return ""


def visual_parameters(model: VisualModel, task: Task) -> int:
    """Count of a visual model's parameters."""
    d, h = model.d_model, model.d_ff
    return (model.n_embeddings + task.n_tokens + 1 + d) * d + 2 * d * h + h + d
