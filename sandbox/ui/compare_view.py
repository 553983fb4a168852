"""What a comparison shows, as its address says it: runs, groups, axes, smoothing, and the place looked at."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox.mathematics.group_band import BANDS, BandKind
from sandbox.store.compared import AXES, TARGET_REACHED, Axis
from sandbox.store.folder import RUN_ID

SCHEMA = 1
SHOWS = ("overlay", "difference", "side by side", "grid", "table")
MOST_RUNS, MOST_GROUPS, MOST_SMOOTH, MOST_PLACE, MOST_HEADS = 6, 24, 200, 1e15, 256
OPENED = 6
"""Groups that a comparison opens with."""
METRIC = "test_accuracy"
LONGEST = 200
KEYS = (
    "schema", "runs", "groups", "show", "metric", "by", "event", "log", "band", "smooth", "at",
    "reference", "knob", "seed", "layer", "head",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class CompareView:
    """Groups are written as `run:arm` with the arm's place in its experiment."""

    runs: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    """Empty: the first six of all."""
    show: str = "overlay"
    metric: str = METRIC
    by: Axis = "step"
    event: str = TARGET_REACHED
    log: bool = False
    band: BandKind = "range"
    smooth: int = 0
    at: float | None = None
    """Where the sentence and the table look; None is the last place that all groups have reached."""
    reference: str = ""
    """The group that differences are taken from; empty is the first."""
    knob: str = ""
    """The setting that makes the columns of the grid; empty: seeds."""
    seed: int | None = None
    """Whose map is shown, where one seed has to be; None is the first of each group."""
    layer: int = 0
    head: int = 0

    def to_params(self) -> dict[str, str]:
        """The query parameters that restore it, every value said."""
        return {
            "schema": str(SCHEMA),
            "runs": ",".join(self.runs),
            "groups": ",".join(self.groups),
            "show": self.show,
            "metric": self.metric,
            "by": self.by,
            "event": self.event,
            "log": _flag(self.log),
            "band": self.band,
            "smooth": str(self.smooth),
            "at": "last" if self.at is None else f"{self.at:.12g}",
            "reference": self.reference,
            "knob": self.knob,
            "seed": "first" if self.seed is None else str(self.seed),
            "layer": str(self.layer + 1),
            "head": str(self.head + 1),
        }


@dataclass
class Told:
    """What an address said that could not be done, in sentences."""

    sentences: list[str] = field(default_factory=list)

    def add(self, what: str, given: str, done: str) -> None:
        """Tell that `given` is no `what`, and what was done instead."""
        self.sentences.append(f"The link's {what} {given[:60]!r} does not exist here; {done}.")


def from_params(params: Mapping[str, str]) -> tuple[CompareView, list[str]]:
    """The view in an address, with every value brought into its range, and a sentence for each that was not.

    Never raises: what a stranger sends is told, clamped or left out.
    """
    told = Told()
    for key in params:
        if key not in (*KEYS, "setups"):
            told.sentences.append(f"The address has no part {key[:40]!r}.")
    schema = params.get("schema", str(SCHEMA))
    if schema != str(SCHEMA):
        told.sentences.append(
            f"The link is written in form {schema[:20]!r}, and this version reads form {SCHEMA}; "
            "what can be read is taken."
        )
    runs = _listed(params.get("runs", ""), "run", told, MOST_RUNS, lambda word: bool(RUN_ID.fullmatch(word)))
    groups = _listed(params.get("groups", ""), "group", told, MOST_GROUPS, _is_group)
    reference = params.get("reference", "")
    if reference and not _is_group(reference):
        told.add("reference", reference, "the first group is taken")
        reference = ""
    return (
        CompareView(
            runs=runs,
            groups=tuple(group for group in groups if group.partition(":")[0] in runs),
            show=_one_of("view", params.get("show", "overlay"), SHOWS, told),
            metric=_text("curve", params.get("metric", METRIC), METRIC, told),
            by=_one_of("axis", params.get("by", "step"), AXES, told),
            event=_text("event", params.get("event", TARGET_REACHED), TARGET_REACHED, told),
            log=_one_of("log axis", params.get("log", "off"), ("off", "on"), told) == "on",
            band=_one_of("band", params.get("band", "range"), tuple(BANDS), told),
            smooth=int(_number("smoothing", params.get("smooth", "0"), 0, MOST_SMOOTH, 0, told)),
            at=_place(params.get("at", "last"), told),
            reference=reference,
            knob=_text("knob", params.get("knob", ""), "", told),
            seed=_seed(params.get("seed", "first"), told),
            layer=int(_number("layer", params.get("layer", "1"), 1, MOST_HEADS, 1, told)) - 1,
            head=int(_number("head", params.get("head", "1"), 1, MOST_HEADS, 1, told)) - 1,
        ),
        told.sentences,
    )


def fitted(view: CompareView, arms: Mapping[str, Sequence[str]]) -> tuple[CompareView, list[str]]:
    """`view` with what these runs (id -> arm names) have, and a sentence for each part that is not there."""
    told: list[str] = []
    gone = [run for run in view.runs if run not in arms]
    runs = tuple(run for run in view.runs if run in arms)
    known = [f"{run}:{arm}" for run in runs for arm in range(len(arms[run]))]
    groups = tuple(group for group in view.groups if group in known)
    told += [
        f"The group {group} is not here."
        for group in view.groups
        if group not in known and group.partition(":")[0] in runs
    ]
    groups = groups or opened(runs, arms)
    reference = view.reference if view.reference in groups else ""
    if view.reference and not reference and view.reference.partition(":")[0] not in gone:
        told.append(f"The reference {view.reference} is not among the groups; the first one is taken.")
    return _with(view, runs=runs, groups=groups, reference=reference), told


def opened(runs: Iterable[str], arms: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The groups that a comparison opens with: arm by arm through all runs, at most OPENED."""
    runs = list(runs)
    most = max((len(arms[run]) for run in runs), default=0)
    found = [f"{run}:{arm}" for arm in range(most) for run in runs if arm < len(arms[run])]
    kept = set(found[:OPENED])
    return tuple(group for run in runs for arm in range(len(arms[run])) if (group := f"{run}:{arm}") in kept)


def _with(view: CompareView, **changes: Any) -> CompareView:
    return CompareView(**{**view.__dict__, **changes})


def _flag(value: bool) -> str:
    return "on" if value else "off"


def _is_group(word: str) -> bool:
    run, colon, arm = word.partition(":")
    return bool(colon and RUN_ID.fullmatch(run) and arm.isascii() and arm.isdigit() and len(arm) < 4)


def _listed(text: str, what: str, told: Told, most: int, sound: Any) -> tuple[str, ...]:
    words = list(dict.fromkeys(word for word in text.split(",") if word))
    for word in words:
        if not sound(word):
            told.add(what, word, "it is left out")
    good = [word for word in words if sound(word)]
    if len(good) > most:
        told.sentences.append(f"The link has {len(good)} {what}s and {most} fit; the first {most} are shown.")
    return tuple(good[:most])


def _one_of(what: str, given: str, options: Sequence[Any], told: Told) -> Any:
    if given in options:
        return given
    told.add(what, given, f"{options[0]} is taken")
    return options[0]


def _text(what: str, given: str, otherwise: str, told: Told) -> str:
    if len(given) <= LONGEST and (given.isprintable() or not given):
        return given
    told.add(what, given, f"{otherwise or 'none'} is taken")
    return otherwise


def _number(what: str, given: str, low: float, high: float, otherwise: float, told: Told) -> float:
    try:
        value = float(given)
    except ValueError:
        value = float("nan")
    if value != value:
        told.add(what, given, f"{otherwise:g} is taken")
        return otherwise
    inside = min(max(value, low), high)
    if inside != value:
        told.sentences.append(f"The link's {what} {given[:40]} is out of range; {inside:g} is taken.")
    return inside


def _place(given: str, told: Told) -> float | None:
    if given == "last":
        return None
    try:
        sound = not math.isnan(float(given))
    except ValueError:
        sound = False
    if not sound:
        told.add("place", given, "the last place that all groups have reached is taken")
        return None
    return _number("place", given, -MOST_PLACE, MOST_PLACE, 0.0, told)


def _seed(given: str, told: Told) -> int | None:
    if given == "first":
        return None
    if given.isascii() and given.isdigit() and len(given) < 11:
        return int(given)
    told.add("seed", given, "the first one of each group is taken")
    return None
