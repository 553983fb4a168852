"""Sweeping: how far a study's runs are, and handing those that are not done to the queue."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sandbox.foundations.errors import SandboxError
from sandbox.runner import pace, queue
from sandbox.runner.places import present_state
from sandbox.store import open_run
from sandbox.store.folder import EXPERIMENT, run_path
from sandbox.store.study import Study, StudyPoint, write_study

OVER = ("done", "failed", "stopped")
QUEUES_OWN = ("queued", "running", "paused", "stalled")
"""States that the queue knows better than the run's folder."""


@dataclass(frozen=True)
class Standing:
    """Where one point is now."""

    state: str
    step: int
    steps: int
    reason: str = ""


@dataclass(frozen=True)
class Progress:
    """How far a study is; `seconds_left` is None where nothing is left or nothing is known."""

    done: int
    failed: int
    total: int
    share: float
    """Of all steps of all points, weighted by what they cost."""
    seconds_left: float | None

    @property
    def words(self) -> str:
        """`2 of 6 points done, 1 failed`."""
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.done} of {self.total} points done{failed}"


def standings(study: Study) -> list[Standing]:
    """Where each point is: what the queue says, else what its folder says, else that there is none."""
    queued = queue.states_of(study.run_ids)
    return [_standing(point, queued.get(point.run)) for point in study.points]


def _standing(point: StudyPoint, queued: queue.QueuedRun | None) -> Standing:
    steps = int(point.plain["steps"])
    folder = run_path(point.run)
    if queued is not None and (queued.state in QUEUES_OWN or not _recorded(folder)):
        return Standing(queued.state, queued.step, steps, queued.reason)
    if not _recorded(folder):
        return Standing("new", 0, steps)
    try:
        with open_run(folder) as run:
            status = run.status
            return Standing(present_state(run), int(status["step"]), steps, str(status["reason"]))
    except SandboxError as error:
        return Standing("damaged", 0, steps, str(error))


def _recorded(folder: Path) -> bool:
    return (folder / EXPERIMENT).is_file()


def progress(study: Study, now: Sequence[Standing], workers: int | None = None) -> Progress:
    """How far the study is, and the seconds that `workers` (as the server has) need for the rest."""
    counts = Counter(one.state for one in now)
    with queue.catalogue_connection() as connection:
        known = pace.read_pace(connection)
        n = workers or int(pace.fact(connection, "workers") or 1)
    done = total = left = 0.0
    longest = 0.0
    for point, one in zip(study.points, now, strict=True):
        flops = point.cost["flops"]
        total += flops
        done += flops * (one.step / one.steps)
        if one.state not in ("done", "failed"):
            step = known.guess(
                point.plain, flops / one.steps, study.device, point.cost.get("torch", 0.0)
            ).seconds
            seconds = step * (one.steps - one.step)
            left, longest = left + seconds, max(longest, seconds)
    return Progress(
        counts["done"],
        counts["failed"] + counts["damaged"],
        len(now),
        done / total if total else 0.0,
        max(left / n, longest) or None,
    )


def hand_in(study: Study) -> int:
    """Queue every point that is not done and does not wait or run already; how many these were."""
    queued = queue.states_of(study.run_ids)
    n = 0
    for number, (point, now) in enumerate(zip(study.points, standings(study), strict=True), 1):
        if now.state == "done" or now.state in QUEUES_OWN:
            continue
        n += 1
        if point.run in queued:
            queue.take_again(point.run)
        else:
            name = f"{study.name} {number}"
            queue.enqueue(
                point.plain, study.owner, name, study.device, point.run,
                cost=point.cost, keeps_on=True,
            )  # fmt: skip
    return n


def cancel(study: Study) -> int:
    """Stop what runs and take what waits out of the queue; how many points these were."""
    n = 0
    for point, now in zip(study.points, standings(study), strict=True):
        if now.state in QUEUES_OWN:
            queue.stop(point.run)
            n += 1
    return n


def record(study: Study, now: Sequence[Standing], root: Path | None = None) -> Study:
    """Write what is known of each point into the study's file; the study as it then stands."""
    points = tuple(
        replace(point, state=one.state, step=one.step) for point, one in zip(study.points, now, strict=True)
    )
    if points == study.points:
        return study
    changed = replace(study, points=points)
    write_study(changed, root)
    return changed
