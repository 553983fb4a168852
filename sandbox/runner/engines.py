"""The engines of a run: chosen per arm, kept in the run's description, and an event where one changes."""

from collections.abc import Sequence

from sandbox.engine.choice import EngineChoice, choose_engine, group_for
from sandbox.engine.setting import GroupSetting
from sandbox.engine.torch_engine import TorchGroup
from sandbox.store import RunWriter

ENGINES = "engines"
"""Under this key a run describes the engine of every arm, and why it is not the native one."""

SWITCHED = "engine"
"""Kind of the event that a run goes on with another engine than before its checkpoint."""


def build_groups(
    writer: RunWriter,
    settings: Sequence[GroupSetting],
    device: str,
    wanted: str,
    resumed_at: int | None,
) -> list[TorchGroup]:
    """A group per arm on the engine that applies; `resumed_at` is the checkpoint's step, None at a start.

    Records the choice, and an event at that step where an arm goes on with another engine: from there on its
    numbers are another engine's. Raises EngineUnavailable as `choose_engine` does.
    """
    # What is resumed without a word on engines began before there were two.
    before = (writer.described(ENGINES) or {}) if resumed_at is not None else {}
    chosen: dict[str, EngineChoice] = {}
    for arm, setting in zip(writer.arms, settings, strict=True):
        earlier = before.get(arm, {}).get("engine", "torch") if resumed_at is not None else None
        chosen[arm] = choice = choose_engine(setting, device, wanted, earlier)
        if resumed_at is not None and choice.engine != earlier:
            why = f": {choice.reason}" if choice.reason else ""
            detail = f"goes on with the {choice.engine} engine, after the {earlier} engine{why}"
            writer.event(resumed_at, SWITCHED, detail, arm)
    writer.describe(**{ENGINES: {arm: choice.to_plain() for arm, choice in chosen.items()}})
    return [
        group_for(setting, writer.seeds, device, chosen[arm].engine)
        for arm, setting in zip(writer.arms, settings, strict=True)
    ]
