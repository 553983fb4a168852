"""Plain form: settings as nested dicts of JSON values, and back; every variant carries its kind."""

from dataclasses import MISSING, fields
from typing import Any, TypeVar

from sandbox.foundations.errors import InvalidPlain
from sandbox.foundations.knobs import Knobs, check_knob
from sandbox.foundations.registry import Registry
from sandbox.foundations.typed_text import shown

K = TypeVar("K", bound=Knobs)


def slot(registry: Registry[Any], default: str) -> dict[str, Any]:
    """Metadata of a field that holds a variant of `registry`, `default` being its kind."""
    return {"registry": registry, "default_kind": default}


def to_plain(settings: Knobs) -> dict[str, Any]:
    """Every value that defines `settings`, defaults included; variants carry their kind."""
    plain: dict[str, Any] = {"kind": settings.kind} if settings.kind else {}
    for f in fields(settings):
        value = getattr(settings, f.name)
        plain[f.name] = to_plain(value) if isinstance(value, Knobs) else value
    return plain


def from_plain(cls: type[K], plain: Any, where: str = "") -> K:
    """Build `cls` from its plain form: unknown keys are errors, missing keys take the default."""
    where = where or cls.kind or cls.__name__.lower()
    if not isinstance(plain, dict):
        raise InvalidPlain(f"{where} is {shown(plain)}; it must be a table of settings.")
    known = {f.name: f for f in fields(cls)}
    values: dict[str, Any] = {}
    for key, value in plain.items():
        if key == "kind":
            if value != cls.kind:
                raise InvalidPlain(f"{where} has kind {shown(value)}; {cls.kind!r} was expected.")
        elif key not in known:
            raise InvalidPlain(f"{where} has no setting {str(key)[:80]!r}; it has {', '.join(known)}.")
        elif "registry" in known[key].metadata:
            values[key] = variant_from_plain(known[key].metadata["registry"], value, f"{where}.{key}")
        elif "knob" in known[key].metadata:
            values[key] = check_knob(where, key, known[key].metadata["knob"], known[key].default, value)
        else:
            values[key] = value
    missing = [
        n
        for n, f in known.items()
        if n not in values and f.default is MISSING and f.default_factory is MISSING
    ]
    if missing:
        raise InvalidPlain(f"{where} lacks {', '.join(missing)}; give a value for it.")
    return cls(**values)


def variant_from_plain(registry: Registry[K], plain: Any, where: str) -> K:
    """Build a variant of `registry` from {"kind": ..., knob: ...} or from its kind alone."""
    if isinstance(plain, str):
        plain = {"kind": plain}
    if not isinstance(plain, dict) or not isinstance(plain.get("kind"), str):
        raise InvalidPlain(f"{where} is {shown(plain)}; it must be a table with the key 'kind'.")
    return from_plain(registry[plain["kind"]], plain, where)
