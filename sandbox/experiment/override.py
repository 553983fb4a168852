"""Override: change one value of a plain form by its dotted key."""

from copy import deepcopy
from typing import Any

from sandbox.foundations.errors import InvalidPlain
from sandbox.foundations.spec import read_value


def override(plain: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    """A copy of `plain` with `value` at the dotted `key`, e.g. "model.d_model"."""
    changed = deepcopy(plain)
    table: Any = changed
    *path, last = key.split(".")
    for name in path:
        if isinstance(table, dict):
            table = table.setdefault(name, {})
        if not isinstance(table, dict):
            raise InvalidPlain(f"The key {key[:80]!r} goes through {name[:40]!r}, which holds no settings.")
    if not last:
        raise InvalidPlain(f"The key {key[:80]!r} is incomplete; write it as task.length or model.d_model.")
    table[last] = value
    return changed


def override_text(plain: dict[str, Any], assignment: str) -> dict[str, Any]:
    """Apply KEY=VALUE as typed on a command line."""
    key, equals, value = (piece.strip() for piece in assignment.partition("="))
    if not (key and equals and value):
        raise InvalidPlain(f"The setting {assignment[:80]!r} cannot be read; write it as KEY=VALUE.")
    return override(plain, key, read_value(value))
