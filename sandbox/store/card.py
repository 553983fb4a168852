"""Card: what a list of runs shows of one run, so small that hundreds of them are read at once."""

import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sandbox.foundations.errors import RunUnavailable
from sandbox.foundations.written import whole
from sandbox.store.folder import read_experiment
from sandbox.store.forks import origin
from sandbox.store.labels import Labels, read_labels
from sandbox.store.lost_seeds import lost_at
from sandbox.store.rows import BEFORE
from sandbox.store.run_reader import Run, open_run
from sandbox.store.summary import ArmSummary, summarize

POINTS = 28
"""Buckets of a small curve."""
SMALL_CURVES = ("test_accuracy", "test_loss", "loss")
"""What the small curve shows: the first of these that a run has."""
MOST_METRICS = 80
MOST_SETTINGS = 400
ORIGIN = "goes on from"
"""Among flat settings: the run and step that a fork begins with, in place of how it came there."""


@dataclass(frozen=True, kw_only=True)
class SmallCurve:
    """A curve over the steps in buckets: the seeds' mean, and the least and greatest value in each."""

    name: str = ""
    steps: list[int] = field(default_factory=list)
    mean: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class ArmCard:
    """One arm: its last numbers, mean over the seeds that did not diverge, and how it ended."""

    name: str
    metrics: dict[str, float]
    """Curve or `diagnostic/column` -> the last value; readings as the median over seeds, layers and heads."""
    reached: int = 0
    median_step: float | None = None
    diverged: int = 0
    difference: tuple[float, float | None, float | None, int] | None = None
    """Mean, interval and pairs of the held-out accuracy less that of the reference arm."""
    reference: str = ""
    curve: SmallCurve = field(default_factory=SmallCurve)


@dataclass(frozen=True, kw_only=True)
class Card:
    """One run; `fault` is the sentence that says why nothing else could be read."""

    id: str
    fault: str = ""
    created: float = 0.0
    state: str = ""
    step: int = 0
    seconds: float = 0.0
    reason: str = ""
    target: float = 1.0
    plain: dict[str, Any] = field(default_factory=dict)
    arms: tuple[ArmCard, ...] = ()
    labels: Labels = field(default_factory=Labels)

    @property
    def seeds(self) -> int:
        """How many seeds each arm has."""
        return len(self.plain.get("seeds", ()))

    @property
    def diverged(self) -> int:
        """Seeds of all arms whose loss is not finite."""
        return sum(arm.diverged for arm in self.arms)


def make_card(folder: Path, target: float) -> Card:
    """The card of the run in `folder`; a damaged one has its fault in words and never raises."""
    try:
        with open_run(folder) as run:
            return _card(run, float((run.meta("target") or {}).get("value", target)))
    except RunUnavailable as fault:
        return Card(id=folder.name, fault=str(fault), plain=_settings_alone(folder), created=_age(folder))
    except Exception as fault:  # whatever one folder holds, the others are listed
        sentence = f"{folder} cannot be read ({type(fault).__name__}: {str(fault)[:160]})."
        return Card(id=folder.name, fault=sentence, created=_age(folder))


def _card(run: Run, target: float) -> Card:
    status = run.status
    labels, said = Labels(), str(status["reason"])
    try:
        labels = read_labels(run.path)
    except RunUnavailable as fault:  # the run itself is sound
        said = str(fault)
    lines = {line.arm: line for line in summarize(run, target)}
    return Card(
        id=run.id,
        created=run.created,
        state=str(status["state"]),
        step=int(status["step"]),
        seconds=float(status["seconds"]),
        reason=said,
        target=target,
        plain=run.experiment,
        arms=tuple(_arm(run, arm, lines[arm]) for arm in run.arms),
        labels=labels,
    )


def _arm(run: Run, arm: str, line: ArmSummary) -> ArmCard:
    found = line.difference
    return ArmCard(
        name=arm,
        metrics=_metrics(run, arm),
        reached=line.reached,
        median_step=line.median_step,
        diverged=line.diverged,
        difference=None if found is None else (found.mean, found.low, found.high, found.n),
        reference=line.reference,
        curve=small_curve(run, arm),
    )


def _metrics(run: Run, arm: str) -> dict[str, float]:
    found: dict[str, float] = {}
    steps, _ = run.group_curve("test_accuracy", arm)
    sound = np.isinf(lost_at(run, arm))
    ends = (run.status["step"] - 1, int(steps[-1]) - 1 if len(steps) else -1, -1)
    for name in (name for name in run.scalar_names(arm) if not name.startswith(BEFORE)):
        last = _last_row(run, name, arm, ends)
        last = last[sound] if len(last) else last
        finite = last[np.isfinite(last)]
        found[name] = float(finite.mean()) if len(finite) else math.nan
    for kind in run.reading_kinds(arm):
        meta = run.meta(f"reading/{run.arms.index(arm)}/{kind}") or {}
        read = run.reading_steps(kind, arm)
        if meta.get("type") != "PerHead" or not len(read):
            continue
        for column in run.reading_columns(kind, arm):
            values = run.reading_column(kind, column, arm, int(read[-1]) - 1)[1].astype(np.float64)
            known = values[~np.isnan(values)]
            found[f"{kind}/{column}"] = float(np.median(known)) if known.size else math.nan
    return dict(list(found.items())[:MOST_METRICS])


def _last_row(run: Run, name: str, arm: str, ends: tuple[int, ...]) -> np.ndarray:
    """(seed,) the last values of a curve, looked for after each of `ends` so that not all of it is read."""
    for end in ends:
        _, values = run.group_curve(name, arm, since=end)
        if len(values):
            return values[-1]
    return np.zeros(0)


def small_curve(run: Run, arm: str) -> SmallCurve:
    """The arm's curve in at most POINTS buckets; extremes of every bucket are kept in its band."""
    for name in SMALL_CURVES:
        steps, values = run.group_curve(name, arm)
        if len(steps):
            break
    else:
        return SmallCurve()
    parts = np.array_split(np.arange(len(steps)), min(POINTS, len(steps)))
    finite = np.isfinite(values)
    low, high, total = (np.where(finite, values, fill) for fill in (np.inf, -np.inf, 0.0))
    known = [bool(finite[part].any()) for part in parts]
    return SmallCurve(
        name=name,
        steps=[int(steps[part[-1]]) for part in parts],
        mean=[
            float(total[part].sum() / finite[part].sum()) if some else math.nan
            for part, some in zip(parts, known, strict=True)
        ],
        low=[float(low[part].min()) if some else math.nan for part, some in zip(parts, known, strict=True)],
        high=[float(high[part].max()) if some else math.nan for part, some in zip(parts, known, strict=True)],
    )


def flat_settings(plain: dict[str, Any]) -> dict[str, Any]:
    """The settings of an experiment by dotted name, without seeds, arms and schema, which stand apart.

    {"task": {"kind": "listops"}, "steps": 9} becomes {"task": "listops", "steps": 9}. Of a fork there is one
    line, ORIGIN; the values that its arms go on with are theirs.
    """
    found: dict[str, Any] = {}

    def walk(place: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(place if key == "kind" else f"{place}.{key}".lstrip("."), inner)
        elif len(found) < MOST_SETTINGS:
            found[place] = value if isinstance(value, int | float | str | bool) else repr(value)[:80]

    walk("", {k: v for k, v in plain.items() if k not in ("schema", "seeds", "arms", "fork")})
    if (begin := origin(plain)) is not None:
        found[ORIGIN] = f"{begin[0]} at step {whole(begin[1])}"
    return found


def card_plain(card: Card) -> dict[str, Any]:
    """The card as JSON values."""
    return asdict(card)


def card_from_plain(plain: dict[str, Any]) -> Card:
    """The card that `card_plain` wrote; KeyError or TypeError for anything else."""
    arms = tuple(
        ArmCard(
            **arm
            | {
                "curve": SmallCurve(**arm["curve"]),
                "difference": tuple(arm["difference"]) if arm["difference"] else None,
            }
        )
        for arm in plain["arms"]
    )
    labels = Labels(**plain["labels"] | {"tags": tuple(plain["labels"]["tags"])})
    return Card(**plain | {"arms": arms, "labels": labels})


def _settings_alone(folder: Path) -> dict[str, Any]:
    try:
        return read_experiment(folder)
    except RunUnavailable:
        return {}


def _age(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0
