"""Cost: what an experiment asks of the machine, estimated before it starts."""

from dataclasses import dataclass

from sandbox.engine.choice import choose_engine
from sandbox.experiment.experiment import Experiment
from sandbox.experiment.schedule import snapshot_budget
from sandbox.experiment.setting import ArmSetting
from sandbox.foundations.errors import InvalidExperiment
from sandbox.models.encoder import Encoder

MAX_FLOPS = 3e15  # about a day of one busy core on small matrices
MAX_BYTES = 6e9  # of one worker: data of all seeds, activations of a chunk, optimizer state
FLOPS_PER_PARAMETER = 6  # forward 2, backward 4, per token (Kaplan et al., arXiv 2001.08361, section 2.1)
ACTIVATIONS_PER_LAYER = 16  # copies of the residual stream that backward keeps, our estimate
STATE_COPIES = 6  # weights, gradients, two moments, and two temporaries of the optimizer
READING_BYTES = 40_000  # of one arm, seed and kept step, measured on the presets, within a factor of three
CHECKPOINTS = 10  # the two newest, and up to eight to rewind to
ROW_BYTES = 40  # of a row of run.sqlite beside its numbers
CHUNK_FLOATS = 1e5  # what the engine stacks at once, at most (or one run)


@dataclass(frozen=True)
class Cost:
    """An estimate: arithmetic of all arms and seeds, the memory of the worker, and the run's folder."""

    flops: float
    bytes: float
    parameters: dict[str, int]
    storage: float
    """Bytes of the run's folder when it is done."""
    torch: float = 0.0
    """Share of the operations in arms that the torch engine trains on the CPU."""


def estimate(experiment: Experiment, parameters: dict[str, int]) -> Cost:
    """Estimate the cost, `parameters` being the count of each arm by name."""
    each = {name: _flops_per_step(experiment.setting(name), n) for name, n in parameters.items()}
    flops = sum(each.values())
    torch = sum(each[name] for name in each if choose_engine(experiment.setting(name)).engine == "torch")
    n_seeds = len(experiment.seeds)
    data = n_seeds * experiment.task.n_tokens * _rows(experiment) * len(parameters)
    state = 4 * STATE_COPIES * n_seeds * sum(parameters.values())
    activations = max(_activation_bytes(experiment.setting(name)) for name in parameters)
    return Cost(
        flops * experiment.steps * n_seeds,
        float(data + state + activations),
        parameters,
        _storage(experiment, parameters),
        torch / flops,
    )


@dataclass(frozen=True)
class ArmCost:
    """What one arm asks, before it is trained: the measured ratio of step times comes after."""

    parameters: int
    flops: float
    """Floating point operations of one step of one seed."""
    projection_flops: float
    """Of them, Q, K and V of one sequence forwards: 2 N D d per head and projection, and the correction."""
    bytes: float
    """Weights, gradients, moments and activations of one seed."""


def of_arm(setting: ArmSetting, parameters: int) -> ArmCost:
    """Estimate one arm's cost from its trained parameters; the correction's share is the paper's count."""
    width, layers = _width(setting)
    n_tokens = setting.task.n_tokens
    projection, added = 0.0, 0.0
    if isinstance(setting.model, Encoder):
        heads = setting.model.n_heads
        n_products, d_head = 3 * layers * heads, width // heads
        projection = 2.0 * n_tokens * width * d_head * n_products
        added = n_products * setting.model.projection.added_operations(n_tokens, width, d_head)
    return ArmCost(
        parameters,
        _flops_per_step(setting, parameters) + added * setting.batch_size,
        projection + added,
        float(4 * STATE_COPIES * parameters + _activation_bytes(setting)),
    )


def refuse_excess(cost: Cost) -> None:
    """Raise InvalidExperiment where the estimate is beyond what one request may ask for."""
    if cost.flops > MAX_FLOPS:
        raise InvalidExperiment(
            f"This asks for about {cost.flops:.0e} floating point operations; one run may use "
            f"{MAX_FLOPS:.0e}. "
            "Lower the steps, seeds, arms, width or length."
        )
    if cost.bytes > MAX_BYTES:
        raise InvalidExperiment(
            f"This needs about {cost.bytes / 1e9:.0f} GB of memory; one run may use "
            f"{MAX_BYTES / 1e9:.0f} GB. "
            "Lower the batch size, length, width or seeds."
        )


def _storage(experiment: Experiment, parameters: dict[str, int]) -> float:
    """Bytes on disk: a loss per step, weights and readings of what is kept, checkpoints and those before."""
    n_seeds = len(experiment.seeds)
    weights = 4 * n_seeds * sum(parameters.values())
    kept = snapshot_budget(experiment.steps, weights)
    readings = kept * n_seeds * len(parameters) * READING_BYTES
    checkpoints = CHECKPOINTS * 3 * weights  # weights and two moments
    curves = experiment.steps * len(parameters) * (ROW_BYTES + 8 * n_seeds)
    return float(curves + kept * weights + readings + checkpoints)


def _rows(experiment: Experiment) -> int:
    return int(getattr(experiment.task, "n_train", 0)) + int(getattr(experiment.task, "n_test", 0))


def _width(setting: ArmSetting) -> tuple[int, int]:
    return int(getattr(setting.model, "d_model", 1)), int(getattr(setting.model, "n_layers", 1))


def _flops_per_step(setting: ArmSetting, parameters: int) -> float:
    width, layers = _width(setting)
    tokens = setting.batch_size * setting.task.n_tokens
    attention = 2 * 2 * 3 * layers * tokens * setting.task.n_tokens * width
    return float(FLOPS_PER_PARAMETER * parameters * tokens + attention)


def _activation_bytes(setting: ArmSetting) -> float:
    width, layers = _width(setting)
    heads = int(getattr(setting.model, "n_heads", 1))
    n_tokens = setting.task.n_tokens
    batch = max(setting.batch_size, 512)  # evaluation runs in chunks of 512 rows
    one = batch * n_tokens * layers * (ACTIVATIONS_PER_LAYER * width + 4 * heads * n_tokens)
    return 4 * max(one, CHUNK_FLOATS * ACTIVATIONS_PER_LAYER)
