"""Errors raised on purpose: one sentence that says what, which value, what is allowed, what to do."""


class SandboxError(Exception):
    """Root of every deliberate error; its message is shown to people as it stands."""


class UnknownVariant(SandboxError):
    """A name that no variant of the family carries."""


class InvalidKnob(SandboxError):
    """A setting outside its bounds, of the wrong kind, or not a number."""


class InvalidPlain(SandboxError):
    """A plain form (TOML, JSON or link) that does not describe an object."""


class InvalidExperiment(SandboxError):
    """Settings that are each valid but contradict one another, or cost too much."""


class InvalidData(SandboxError):
    """A file or array whose content cannot be used; names the row or position."""


class RunUnavailable(SandboxError):
    """A run folder that is missing, damaged, locked by another writer, or of another experiment."""


class DeviceUnavailable(SandboxError):
    """A device that this machine or this torch build does not offer."""


class EngineUnavailable(SandboxError):
    """An engine that cannot train this setting, or is not built on this machine."""
