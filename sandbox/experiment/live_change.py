"""Live change: another value for a knob that may change while a run goes on, as data with a step."""

from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from sandbox.experiment.arm import SLOTS
from sandbox.experiment.setting import ArmSetting
from sandbox.foundations.errors import InvalidKnob
from sandbox.foundations.idea import Idea
from sandbox.foundations.plain import from_plain, to_plain

AnIdea = TypeVar("AnIdea", bound=Idea)
OPTIMIZER = "optimizer"


@dataclass(frozen=True)
class LiveChange:
    """From the update after `step` on, `key` of the arm has `value`; keys are like "projection.shift"."""

    step: int
    arm: str
    key: str
    value: float

    def to_plain(self) -> dict[str, Any]:
        """The change as JSON values."""
        return asdict(self)


def live_values(setting: ArmSetting) -> dict[str, float]:
    """The present value of everything that may change during the run, by dotted key."""
    return {
        f"{place}.{name}": getattr(settings, name)
        for place, settings in _places(setting).items()
        for name, spec in settings.knobs().items()
        if spec.live
    }


def changed(setting: ArmSetting, key: str, value: Any) -> ArmSetting:
    """The setting with another value at `key`.

    Raises InvalidKnob where the knob may not change during a run, or not to that value.
    """
    possible = live_values(setting)
    if key not in possible:
        raise InvalidKnob(
            f"{key[:80]!r} cannot change during a run of this arm; what can is {', '.join(possible)}."
        )
    place, name = key.split(".")
    if place == OPTIMIZER:
        return replace(setting, optimizer=_with(setting.optimizer, name, value))
    variant = _with(_places(setting)[place], name, value)
    return replace(setting, model=replace(setting.model, **{place: variant}))


def _with(settings: AnIdea, name: str, value: Any) -> AnIdea:
    """The settings with one value checked as in a plain form, since it may come from anywhere."""
    return from_plain(type(settings), to_plain(settings) | {name: value})


def _places(setting: ArmSetting) -> dict[str, Idea]:
    slots = {slot: getattr(setting.model, slot, None) for slot in SLOTS}
    return {slot: variant for slot, variant in slots.items() if isinstance(variant, Idea)} | {
        OPTIMIZER: setting.optimizer
    }
