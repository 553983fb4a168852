"""NotApplicable: the answer, as data, where a question or a toggle means nothing."""

from dataclasses import dataclass


@dataclass(frozen=True)
class NotApplicable:
    """Says in one sentence why an idea has no meaning here; drawn as that sentence."""

    reason: str
