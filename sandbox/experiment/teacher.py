"""Teacher: the stored weights that a start by weight selection names."""

from dataclasses import replace

from sandbox.engine.layout import Layout
from sandbox.foundations.errors import InvalidExperiment
from sandbox.initialization.weight_selection import TaughtStart, Teacher, WeightSelection
from sandbox.models import Architecture
from sandbox.models.encoder import Encoder
from sandbox.store import open_run
from sandbox.store.recorded import stored_run_path


def with_teacher(model: Architecture) -> Architecture:
    """The model with its teacher's weights in place of the teacher's name; others are returned as they are.

    Raises InvalidExperiment where no run is named, RunUnavailable or InvalidData where it lacks the weights.
    """
    if not isinstance(model, Encoder) or not isinstance(model.initialization, WeightSelection):
        return model
    return replace(model, initialization=TaughtStart(teacher=read_teacher(model.initialization)))


def read_teacher(start: WeightSelection) -> Teacher:
    """Read the weights of a run, or of `recorded:NAME`; ids come from people and links, so they are checked.

    Raises InvalidExperiment, RunUnavailable or InvalidData where the run lacks the arm, seed or weights.
    """
    if not start.run:
        raise InvalidExperiment(
            "Weight selection names no teacher; give the id of a stored run, e.g. weight-selection:run=ID."
        )
    with open_run(stored_run_path(start.run)) as run:
        if start.arm >= len(run.arms):
            raise InvalidExperiment(
                f"The teacher's arm is {start.arm}, but {start.run} has {len(run.arms)} arms; count from 0."
            )
        seed = run.seeds[0] if start.seed < 0 else start.seed
        if seed not in run.seeds:
            raise InvalidExperiment(
                f"The teacher's seed is {seed}, but {start.run} has the seeds {list(run.seeds)[:20]}."
            )
        arm = run.arms[start.arm]
        stored = run.weight_steps(arm)
        if not len(stored):
            others = [f"{i} ({name})" for i, name in enumerate(run.arms) if len(run.weight_steps(name))]
            instead = f"take the arm {' or '.join(others)}" if others else "choose a run that has trained"
            raise InvalidExperiment(f"{start.run} has kept no weights of its arm {arm!r}; {instead}.")
        step = int(stored[-1]) if start.step < 0 else start.step
        row = run.seeds.index(seed)
        rows = run.weights(step, arm)[row : row + 1]
        layout = Layout.from_plain(run.layout(arm))
    return {name: values[0] for name, values in layout.unflatten(rows).items()}
