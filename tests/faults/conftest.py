"""The tests of faults take minutes: they run where asked for by name, and leave their numbers behind."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Note = Callable[..., None]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the marked tests out unless the marker expression names them."""
    if "faults" not in (config.option.markexpr or ""):
        left_out = [item for item in items if item.get_closest_marker("faults")]
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


@pytest.fixture
def note(request: pytest.FixtureRequest, repository: Path) -> Note:
    """Writes the numbers of a test to build/faults/, for the table in docs/reliability.md."""

    def write(**numbers: Any) -> None:
        folder = repository / "build" / "faults"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{request.node.name}.json").write_text(json.dumps(numbers, indent=1) + "\n")

    return write
