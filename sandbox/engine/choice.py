"""Choice of engine: which one trains a group, why, and what was to be had instead."""

from collections.abc import Sequence
from dataclasses import dataclass

from sandbox.engine.native.coverage import not_automatic, not_covered
from sandbox.engine.native.group import NativeGroup
from sandbox.engine.setting import GroupSetting
from sandbox.engine.torch_engine import TorchGroup
from sandbox.foundations.errors import EngineUnavailable, InvalidKnob

ENGINES = ("auto", "torch", "native")


@dataclass(frozen=True)
class EngineChoice:
    """The engine of a group; `reason` says why the native one was not taken, empty where it was."""

    engine: str
    reason: str = ""

    def to_plain(self) -> dict[str, str]:
        """As a run's description keeps it."""
        return {"engine": self.engine, "reason": self.reason}


def choose_engine(
    setting: GroupSetting, device: str = "cpu", wanted: str = "auto", before: str | None = None
) -> EngineChoice:
    """The engine for a setting: with `auto` the native one where it applies, the torch engine elsewhere.

    Float32 sums differ between engines, so a run that goes on after a checkpoint keeps the one `before` it
    if `auto` may choose; that it has to change is for the caller to record. Raises EngineUnavailable where
    the native engine is asked for by name and does not apply, InvalidKnob for a name that is none.
    """
    if wanted not in ENGINES:
        raise InvalidKnob(f"The engine is {wanted[:80]!r}; choose one of {', '.join(ENGINES)}.")
    why_not = not_covered(setting, device)
    if wanted == "native" and why_not:
        raise EngineUnavailable(f"The native engine cannot train this: {why_not}; choose 'auto' or 'torch'.")
    if wanted == "torch":
        return EngineChoice("torch", "asked for")
    if wanted == "auto" and before == "torch":
        return EngineChoice("torch", why_not or "the run began with it")
    if wanted == "auto" and before is None:
        why_not = not_automatic(setting, device)
    return EngineChoice("torch", why_not) if why_not else EngineChoice("native")


def group_for(
    setting: GroupSetting,
    seeds: Sequence[int],
    device: str = "cpu",
    engine: str = "torch",
    threads: int = 1,
) -> TorchGroup:
    """The group of a setting and its seeds on the engine that `choose_engine` named.

    `threads` is what the native engine may use; its numbers do not depend on it.
    """
    if engine == "native":
        return NativeGroup(setting, seeds, threads=threads)
    return TorchGroup(setting, seeds, device)
