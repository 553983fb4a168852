"""Described: what an experiment trains, in the words of its difference to the nearest preset."""

from sandbox.foundations.errors import SandboxError
from sandbox.ui import choices
from sandbox.ui.changes import changes, extent, parts
from sandbox.ui.complete import complete
from sandbox.ui.settings import Plain

MOST_CHANGES = 4


def difference(plain: Plain) -> str:
    """The nearest preset and the difference to it, with how much is trained; the task where nothing is near.

    A preset with other arms or another task is not near, however few words the difference takes: nobody
    chose it. Plain text; `plain` is a complete experiment.
    """
    catalogue = choices.catalogue()
    own = extent(plain)
    presets = {name: choices.preset(name) for name in catalogue.presets}
    found = {
        name: changes(catalogue, preset, plain)
        for name, preset in presets.items()
        if _kinds(preset) == _kinds(plain)
    }
    nearest = min(found, key=lambda name: len(found[name]), default=None)
    if nearest is None or len(found[nearest]) > MOST_CHANGES:
        return f"{catalogue.variant('task', plain['task']['kind']).title}, {own}"
    return "; ".join([f"Preset {nearest}", *found[nearest]]) + f" · {own}"


def _kinds(plain: Plain) -> tuple[str, str, list[list[tuple[str, str]]]]:
    """The task, the model and the arms by their kinds, without their knobs."""
    arms = sorted(sorted(parts(arm).items()) for arm in plain["arms"])
    return plain["task"]["kind"], plain["model"]["kind"], arms


def difference_of_any(plain: Plain) -> str:
    """The same for settings as they were recorded, which this version may not know."""
    try:
        return difference(complete(choices.catalogue(), plain))
    except SandboxError:
        kind = (plain.get("task") or {}).get("kind", "") if isinstance(plain.get("task"), dict) else ""
        return f"{kind or 'settings'} of another version"
