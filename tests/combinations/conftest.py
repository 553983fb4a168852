"""The whole covering array runs where it is asked for by name: `make test-combinations`."""

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the marked tests out unless the marker expression names them."""
    if "combinations" not in (config.option.markexpr or ""):
        left_out = [item for item in items if item.get_closest_marker("combinations")]
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)
