"""`sweep`: train a grid or a list of experiments as one study, each point a run folder of its own."""

import argparse
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandbox.cli.answers import print_json, print_table, shown
from sandbox.cli.numbers import whole
from sandbox.foundations.errors import RunUnavailable, SandboxError
from sandbox.foundations.written import percent

if TYPE_CHECKING:
    from sandbox.cli.train_command import StopSignal
    from sandbox.store.study import Study

HELP = "train a grid or a list of experiments as one study"
FORM = {"formatter_class": argparse.RawDescriptionHelpFormatter}

LOOK = 0.5
"""Seconds between two looks at the points."""

PATIENCE = 30.0
"""Seconds that a supervisor may take to start, and runs to write their last checkpoint."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `sweep`."""
    parser.epilog = (
        "The file has a preset or an [experiment], and a [grid] of lists or [[points]]; docs/sweeps.md\n"
        "says all of it. The same command again goes on; points that are done are not repeated."
    )
    parser.add_argument("file", metavar="FILE", help="a sweep as TOML or JSON")
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="the runs folder for points and study (default: SANDBOX_RUNS, else ./runs)",
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--owner", metavar="NAME", default="local", help="whose study it is in the queue")
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--workers",
        metavar="N",
        type=whole(1, 64),
        help="points trained at once where no app runs (default: SANDBOX_WORKERS, else 2)",
    )
    how.add_argument(
        "--foreground", action="store_true", help="train point after point in this process, without a queue"
    )
    parser.add_argument("--json", action="store_true", help="print the results as one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Train all points; 0 when they are done or were stopped by Ctrl-C, 1 when a point failed."""
    from sandbox.cli.train_command import make_ready

    if arguments.out:
        os.environ["SANDBOX_RUNS"] = str(Path(arguments.out).absolute())
    if arguments.workers is not None:
        os.environ["SANDBOX_WORKERS"] = str(arguments.workers)
    stop = make_ready()
    from sandbox.store.study import write_study

    study = planned(arguments)
    path = write_study(study)
    sys.stderr.write(f"{study.name}: {len(study.points)} points, study file {path}\n")
    stopped = _foreground(study, stop) if arguments.foreground else _queue(study, stop)
    if stopped:
        sys.stderr.write(f"stopped; go on with the same command, or see {path}\n")
    return _report(study, arguments.json)


def planned(arguments: argparse.Namespace) -> "Study":
    """The study that the file describes, every point of it checked and within the limits."""
    from sandbox.engine.device import choose_device
    from sandbox.experiment.cost import estimate
    from sandbox.experiment.describe import count_parameters
    from sandbox.experiment.sweep import load_sweep
    from sandbox.runner.limits import refuse_beyond
    from sandbox.store.study import StudyPoint, new_study, point_id, read_study, study_id

    sweep = load_sweep(arguments.file)
    choose_device(arguments.device)
    name, points = study_id(sweep.name, arguments.owner), []
    for number, point in enumerate(sweep.points, 1):
        plain = point.experiment.to_plain()
        found = estimate(point.experiment, count_parameters(point.experiment))
        cost = {
            "flops": found.flops, "bytes": found.bytes, "storage": found.storage, "torch": found.torch,
        }  # fmt: skip
        try:
            refuse_beyond(plain, cost, arguments.device)
        except SandboxError as error:
            raise type(error)(f"Point {number} ({point.words}): {error}") from error
        points.append(StudyPoint(point_id(name, plain), point.values, plain, cost))
    refuse_beyond(None, {"storage": sum(point.cost["storage"] for point in points)}, arguments.device)
    study = new_study(sweep.name, arguments.owner, arguments.device, sweep.keys, tuple(points))
    try:
        earlier = {point.run for point in read_study(study.id).points}
    except RunUnavailable:
        return study
    shared = len(earlier & {point.run for point in points})
    if shared < len(points):
        sys.stderr.write(f"{study.name} changes: {shared} of its {len(points)} points were in it before\n")
    return study


def _foreground(study: "Study", stop: "StopSignal") -> bool:
    """Train point after point in this process; True where it was told to stop."""
    from sandbox.cli.train_command import Progress
    from sandbox.experiment.experiment import load
    from sandbox.runner.control import RunControl
    from sandbox.runner.execution import Execution
    from sandbox.runner.sweeping import progress, record, standings
    from sandbox.store.folder import run_path

    for number, point in enumerate(study.points, 1):
        now = standings(study)
        if now[number - 1].state == "done":
            continue
        left = progress(study, now, workers=1)
        said = f", about {_duration(left.seconds_left)} left" if left.seconds_left else ""
        sys.stderr.write(f"point {number} of {len(study.points)}: {_values(point.values)}{said}\n")
        counted = Progress(int(point.plain["steps"]))
        try:
            execution = Execution(load(point.plain), run_path(point.run), study.device, on_beat=counted.beat)
            with RunControl(run_path(point.run)) as control:
                control.resume()
            stop.then(execution.interrupt)
            state, reason = execution.run()
        except SandboxError as error:  # the others are not to blame
            state, reason = "failed", str(error)
        counted.end(f"{state}: {reason}" if reason else state)
        record(study, standings(study))
        if state == "stopped":
            return True
    return False


def _queue(study: "Study", stop: "StopSignal") -> bool:
    """Hand the points to the queue and watch them; True where Ctrl-C ended that."""
    from sandbox.runner.control import ensure_supervisor, supervisor_runs
    from sandbox.runner.sweeping import OVER, cancel, hand_in, progress, record, standings

    if all(one.state == "done" for one in standings(study)):
        return False
    own = False
    told: list[bool] = []
    stop.then(lambda: told.append(True))
    handed, say = False, _Line()
    while True:
        if not supervisor_runs():  # none yet, or the one that was there has ended with its app
            own = True
            if not ensure_supervisor(PATIENCE):
                raise RunUnavailable("No supervisor could be started; train with --foreground instead.")
        if not handed:
            hand_in(study)
            handed = True
        now = standings(study)
        record(study, now)
        found = progress(study, now)
        running = sum(one.state == "running" for one in now)
        left = f", about {_duration(found.seconds_left)} left" if found.seconds_left else ""
        say(f"{found.words}, {running} running, {percent(found.share, 0)} of the work{left}")
        if all(one.state in (*OVER, "damaged") for one in now):
            say.end()
            return False
        if told:
            break
        time.sleep(LOOK)
    say.end()
    if not own:
        sys.stderr.write("the app's queue goes on with it; cancel it on its page\n")
        return True
    cancel(study)  # each running point writes a checkpoint, since its worker ends with this process
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and any(one.state == "running" for one in standings(study)):
        time.sleep(LOOK / 5)
    record(study, standings(study))
    return True


class _Line:
    """One line on standard error that is written over, or one every few seconds where that is no terminal."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._said = 0.0
        self._last = ""

    def __call__(self, line: str) -> None:
        from sandbox.cli.train_command import SAY_EVERY

        self._last = line
        if time.monotonic() - self._said >= SAY_EVERY[not self._terminal]:
            self._write()

    def _write(self) -> None:
        self._said = time.monotonic()
        sys.stderr.write(f"\r{self._last:<78}" if self._terminal else f"{self._last}\n")
        sys.stderr.flush()

    def end(self) -> None:
        self._write()
        if self._terminal:
            sys.stderr.write("\n")


def _report(study: "Study", as_json: bool) -> int:
    """Print what every point came to; partial results are results."""
    from sandbox.cli.results import results
    from sandbox.runner.sweeping import standings
    from sandbox.store import open_run
    from sandbox.store.folder import run_path
    from sandbox.store.study import study_path

    now = standings(study)
    failed = [one for one in now if one.state in ("failed", "damaged")]
    if as_json:
        points = []
        for point, one in zip(study.points, now, strict=True):
            said: dict[str, Any] = {
                "values": point.values,
                "run": str(run_path(point.run)),
                "state": one.state,
            }
            try:
                with open_run(run_path(point.run)) as opened:
                    said |= results(opened)
            except SandboxError:
                said |= {"arms": {}, "step": one.step, "steps": one.steps}
            points.append(said | {"state": one.state, "reason": one.reason})
        print_json({"study": str(study_path(study.id)), "name": study.name, "points": points})
        return 1 if failed else 0
    from sandbox.store.study_table import final_table

    lines = [["point", "state", "arm", "seeds", "held-out accuracy", "held-out loss"]]
    for row in final_table(study, [one.state for one in now]):
        lines.append([
            _values(row.values), row.state, row.arm, str(row.n),
            shown(row.accuracy, 4), shown(row.loss, 4),
        ])  # fmt: skip
    print_table(lines)
    for one in failed[:3]:
        sys.stderr.write(f"{one.state}: {one.reason}\n")
    return 1 if failed else 0


def _values(values: dict[str, Any]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in values.items())


def _duration(seconds: float | None) -> str:
    from sandbox.cli.train_command import duration

    return duration(seconds or 0.0)
