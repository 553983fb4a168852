"""A run's scalars as event files for TensorBoard, where it is installed: a folder per arm and seed."""

from pathlib import Path
from typing import Any

from sandbox.foundations.errors import InvalidData
from sandbox.store.again import safe_name
from sandbox.store.run_reader import Run


def write_events(run: Run, folder: Path) -> None:
    """Write every scalar of every seed below `folder`; all points, NaN and Inf as they are.

    The wall time of a point is the run's start plus its step in microseconds: the run keeps no
    clock per step, and TensorBoard wants an order. Raises InvalidData where tensorboard is missing.
    """
    event, writer_of = _tensorboard()
    for index, arm in enumerate(run.arms):
        for column, seed in enumerate(run.seeds):
            writer = writer_of(str(folder / f"{index}-{safe_name(arm)}" / f"seed-{seed}"))
            for name in run.scalar_names(arm):
                for step, values in zip(*run.group_curve(name, arm), strict=True):
                    value = {"tag": name, "simple_value": float(values[column])}
                    made = event.Event(wall_time=run.created + step * 1e-6, step=int(step))
                    made.summary.value.add(**value)
                    writer.add_event(made)
            writer.close()


def _tensorboard() -> tuple[Any, Any]:
    try:
        from tensorboard.compat.proto import event_pb2
        from tensorboard.summary.writer.event_file_writer import EventFileWriter
    except ImportError as missing:
        raise InvalidData(
            "tensorboard is not installed; install the package tensorboard, or export to csv or parquet."
        ) from missing
    return event_pb2, EventFileWriter
