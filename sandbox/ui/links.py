"""Links: a whole experiment in one query parameter, and back; whatever a stranger sends gets a sentence."""

import base64
import binascii
import json
import re
import zlib
from typing import Any, NoReturn

from sandbox.foundations.catalogue import Catalogue
from sandbox.foundations.errors import InvalidPlain
from sandbox.ui.complete import complete
from sandbox.ui.settings import Plain

PARAMETER = "setup"
FORMAT = "1"
"""First part of every link; another number means another way of writing, not another schema of settings."""

MAX_LINK, MAX_TEXT = 20_000, 100_000
ALPHABET = re.compile(r"[A-Za-z0-9_-]+")


def encode(plain: Plain) -> str:
    """The value of the query parameter that restores `plain`, defaults and schema number included."""
    text = json.dumps(plain, separators=(",", ":"), sort_keys=True, allow_nan=False)
    packed = zlib.compress(text.encode(), 9)
    return f"{FORMAT}.{base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


def decode(catalogue: Catalogue, value: str) -> Plain:
    """The experiment in a link, checked and completed. Raises a SandboxError with one sentence."""
    if len(value) > MAX_LINK:
        _refuse(f"has {len(value)} characters, more than the {MAX_LINK} that a link may have")
    number, dot, packed = value.partition(".")
    if not dot or not ALPHABET.fullmatch(packed):
        _refuse("is not complete")
    if number != FORMAT:
        _refuse(f"is written in form {number[:20]!r}, but this version reads form {FORMAT}")
    try:
        squeezed = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(squeezed, MAX_TEXT)
    except (binascii.Error, ValueError, zlib.error):
        _refuse("is damaged")
    if not unpacker.eof:
        _refuse("is cut short or holds more than an experiment can have")
    return complete(catalogue, read_json(text, "The link"))


def read_json(text: bytes | str, what: str) -> Any:
    """JSON without NaN, Infinity or bottomless nesting; InvalidPlain names `what` otherwise."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidPlain(f"{what} holds no settings that can be read: {str(error)[:120]}.") from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no value for a setting")


def _refuse(why: str) -> NoReturn:
    raise InvalidPlain(f"The link {why}; nothing was changed. Ask for it again, or copy it whole.")
