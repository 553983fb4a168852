"""A small run: two arms, three seeds whose values are not their places, and a writer for it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.store import RunWriter


@pytest.fixture
def plain() -> dict[str, Any]:
    return {
        "schema": 1,
        "steps": 100,
        "seeds": [5, 0, 3],
        "arms": [{"name": "standard"}, {"name": "spectral:shift=0.5"}],
    }


@pytest.fixture
def writer(runs_folder: Path, plain: dict[str, Any]) -> Iterator[RunWriter]:
    with RunWriter.create(runs_folder / "brisk-otter-7", plain) as opened:
        yield opened
