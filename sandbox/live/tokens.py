"""Tokens: signed, short-lived permission to watch one run, and perhaps to steer it."""

import os
import secrets
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from itsdangerous import BadSignature, SignatureExpired, URLSafeTimedSerializer

from sandbox.foundations.errors import SandboxError
from sandbox.store.folder import runs_root

LIFETIME = 15 * 60
"""Seconds; an open view gets a fresh token long before, through its own socket."""
SECRET_FILE = "live.secret"
SALT = "sandbox live view"


class TokenRefused(SandboxError):
    """A token that is missing, forged, expired, or of another run."""


@dataclass(frozen=True)
class Permission:
    """What a token allows: watching `run_id`, and steering it where `steer` is true."""

    run_id: str
    steer: bool = False


class Tokens:
    """Signs and checks permissions with one secret per runs folder, so that a restart keeps them valid."""

    def __init__(self, secret: str | None = None, lifetime: int = LIFETIME) -> None:
        self.lifetime = lifetime
        self._serializer = URLSafeTimedSerializer(secret or read_secret(), salt=SALT)

    def sign(self, permission: Permission) -> str:
        """A token for `permission`, safe in a URL."""
        return str(self._serializer.dumps([permission.run_id, int(permission.steer)]))

    def check(self, token: str, run_id: str) -> Permission:
        """The permission in `token`; TokenRefused unless it is ours, fresh and of `run_id`."""
        try:
            signed_for, steer = self._serializer.loads(token, max_age=self.lifetime)
        except SignatureExpired as error:
            raise TokenRefused("This view has rested too long; reload the page to go on.") from error
        except (BadSignature, ValueError, TypeError) as error:
            raise TokenRefused("This view's token is not valid; reload the page.") from error
        if signed_for != run_id:
            raise TokenRefused("This view's token is for another run; reload the page.")
        return Permission(run_id, bool(steer))


def read_secret(runs: Path | None = None) -> str:
    """SANDBOX_SECRET, else the runs folder's own secret, made with mode 0600 when it is missing.

    Where that folder cannot be written, one that lasts as long as this process.
    """
    given = os.environ.get("SANDBOX_SECRET")
    if given:
        return given
    path = (runs or runs_root()) / SECRET_FILE
    try:
        return _kept_secret(path) or _passing_secret()
    except OSError:
        return _passing_secret()


@cache
def _passing_secret() -> str:
    return secrets.token_urlsafe(32)


def _kept_secret(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{SECRET_FILE}.{os.getpid()}.{secrets.token_hex(4)}")
    if not path.exists():
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(32))
        try:
            os.link(fresh, path)  # whole or not at all: two servers starting at once agree on one secret
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return path.read_text().strip()
