"""JSON of the live sockets: what goes out every browser reads, what comes in is short and an object."""

import json
import math
from typing import Any

MOST_READ = 2000
"""Characters of a request."""


def json_text(message: dict[str, Any]) -> str:
    """`message` as compact JSON; NaN and the infinities, which JSON does not know, as null."""
    try:
        return _compact(message)
    except ValueError:
        return _compact(_finite(message))


def request_in(text: str | None) -> dict[str, Any] | None:
    """The JSON object in a frame; None for bytes, for anything else and for what is too long or too deep."""
    if text is None or len(text) > MOST_READ:
        return None
    try:
        request = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return request if isinstance(request, dict) else None


def _compact(message: Any) -> str:
    return json.dumps(message, separators=(",", ":"), default=str, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
