"""train: run an experiment in this process, for scripts and notebooks."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sandbox.experiment.experiment import Experiment
from sandbox.runner.control import RunControl
from sandbox.runner.execution import Execution
from sandbox.runner.live_settings import planned_changes
from sandbox.runner.names import new_run_id
from sandbox.runner.recording import Snapshot
from sandbox.store import Run, open_run, runs_root


def train(
    experiment: Experiment,
    out: str | Path | None = None,
    on_snapshot: Callable[[Snapshot], None] | None = None,
    device: str = "cpu",
    engine: str = "auto",
    changes: Sequence[Mapping[str, Any]] = (),
) -> Run:
    """Train `experiment` to its step limit into the folder `out` and return the run.

    A folder that holds a part of the same experiment is resumed where it stopped; without `out` a
    new one in the runs folder is used. `on_snapshot` is called with the readings of every scheduled
    snapshot. `engine` is auto, torch or native (docs/engine.md). `changes` of live knobs, each with `step`,
    `arm`, `key` and `value`, are made after that step, as if somebody had asked for them then.

    Ctrl-C raises KeyboardInterrupt; what was recorded stays and can be resumed. Raises RunUnavailable
    where the folder is in use or holds another experiment, EngineUnavailable where the native engine is
    asked for and does not apply, InvalidKnob for a change that cannot be made.
    """
    planned = planned_changes(experiment, changes)
    folder = Path(out) if out is not None else runs_root() / new_run_id()
    execution = Execution(experiment, folder, device, engine=engine, changes=planned, on_snapshot=on_snapshot)
    with RunControl(folder) as control:
        control.resume()
    execution.run()
    return open_run(folder)
