"""TensorBoard's files: every point reaches the writer, and a missing package is one sentence."""

import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sandbox.foundations.errors import InvalidData
from sandbox.store import RunWriter, open_run
from sandbox.store.export import export

EVENTS, WRITER = "tensorboard.compat.proto", "tensorboard.summary.writer.event_file_writer"


class Values(list[dict[str, Any]]):
    """The repeated field of a summary."""

    def add(self, **value: Any) -> None:
        self.append(value)


class FakeEvent:
    """What an event holds."""

    def __init__(self, wall_time: float, step: int) -> None:
        self.wall_time, self.step = wall_time, step
        self.summary = types.SimpleNamespace(value=Values())


class FakeWriter:
    """Keeps what it is given, by folder."""

    kept: dict[str, list[FakeEvent]] = {}  # noqa: RUF012 (shared on purpose)

    def __init__(self, folder: str) -> None:
        self.events = FakeWriter.kept.setdefault(Path(folder).as_posix(), [])

    def add_event(self, event: FakeEvent) -> None:
        self.events.append(event)

    def close(self) -> None:
        self.events.append(FakeEvent(float("inf"), -1))


def test_every_point_of_every_seed_is_written_in_order(
    writer: RunWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proto, module = types.ModuleType(EVENTS), types.ModuleType(WRITER)
    proto.event_pb2 = types.SimpleNamespace(Event=FakeEvent)  # type: ignore[attr-defined]
    module.EventFileWriter = FakeWriter  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, EVENTS, proto)
    monkeypatch.setitem(sys.modules, WRITER, module)
    monkeypatch.setattr(FakeWriter, "kept", {})
    values = np.array([[1.0, 2.0, 3.0], [np.nan, 5.0, np.inf]])
    writer.scalars(0, "loss", [0, 7], values)
    writer.commit()
    out = export(open_run(writer.path), "tensorboard", tmp_path / "board")
    names = {Path(folder).relative_to(out).as_posix() for folder in FakeWriter.kept}
    assert names == {f"{arm}/seed-{s}" for arm in ("0-standard", "1-spectral-shift-0-5") for s in (5, 0, 3)}
    events = FakeWriter.kept[(out / "0-standard" / "seed-3").as_posix()]
    assert [e.step for e in events] == [0, 7, -1]
    assert [e.summary.value for e in events[:2]] == [
        [{"tag": "loss", "simple_value": 3.0}],
        [{"tag": "loss", "simple_value": np.inf}],
    ]
    assert events[0].wall_time < events[1].wall_time


def test_without_tensorboard_one_sentence_says_what_to_do(
    writer: RunWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, EVENTS, None)
    with pytest.raises(InvalidData, match="tensorboard is not installed; install"):
        export(open_run(writer.path), "tensorboard", tmp_path / "board")
