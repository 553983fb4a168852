"""JSON text that every browser reads: what is no finite number becomes null, and breaks no stream."""

import json
import math
from typing import Any


def json_text(message: dict[str, Any]) -> str:
    """`message` as compact JSON; NaN and the infinities, which JSON does not know, as null."""
    try:
        return _compact(message)
    except ValueError:
        return _compact(_finite(message))


def _compact(message: Any) -> str:
    return json.dumps(message, separators=(",", ":"), default=str, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
