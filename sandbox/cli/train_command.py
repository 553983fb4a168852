"""`train`: train an experiment in the foreground into a run folder, without the app."""

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from sandbox.cli.answers import print_json
from sandbox.cli.kinds import registered_kinds
from sandbox.foundations.errors import InvalidKnob, InvalidPlain

if TYPE_CHECKING:
    from sandbox.experiment.experiment import Experiment

HELP = "train an experiment without the app, into a run folder"
FORM = {"formatter_class": argparse.RawDescriptionHelpFormatter}

SAY_EVERY = 0.5, 5.0
"""Seconds between two lines of progress: on a terminal, and in a log."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `train`."""
    parser.epilog = (
        "An ARM SPEC is kind:key=value,key=value; several kinds are joined by +.\n"
        f"Kinds: standard, {', '.join(registered_kinds())}.\n"
        "The same --out again resumes that run where it stopped. Ctrl-C writes a checkpoint and stops."
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="an experiment as TOML or JSON")
    parser.add_argument(
        "--preset", metavar="NAME", help="start from a preset, such as 'conditioned against standard'"
    )
    parser.add_argument(
        "--task", metavar="NAME", help="'sparse modular addition' or 'listops', at its defaults"
    )
    parser.add_argument(
        "--arm", metavar="SPEC", action="append", help="an arm, such as spectral:shift=0.5; repeatable"
    )
    parser.add_argument(
        "--seeds", metavar="N|a,b,c", help="the seeds 0 to N-1, or a list such as 3,5 (or 3,)"
    )
    parser.add_argument("--steps", metavar="N", help="the step limit")
    parser.add_argument(
        "--set", metavar="KEY=VALUE", action="append", help="change one value, such as model.d_model=16"
    )
    parser.add_argument(
        "--out", metavar="DIR", help="the run's folder (default: a new one in the runs folder)"
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument(
        "--engine",
        choices=("auto", "torch", "native"),
        default="auto",
        help="auto: compiled kernels where they apply (default); native: refuse where they do not",
    )
    parser.add_argument("--json", action="store_true", help="print the results as one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Train; 0 when the step limit was reached or the run was stopped by Ctrl-C."""
    stop = make_ready()
    from sandbox.runner.admission import admit

    return train(admit(plain_experiment(arguments)), arguments, stop)


def make_ready() -> "StopSignal":
    """What has to be done before torch loads; the signal that Ctrl-C gives from now on."""
    own_process_group()
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when torch loads
    return StopSignal()


def train(
    experiment: "Experiment",
    arguments: argparse.Namespace,
    stop: "StopSignal",
    prepare: Callable[[Path], None] = lambda folder: None,
) -> int:
    """Train in the foreground with the options out, device, engine, json; `prepare` may fill the folder."""
    from sandbox.engine.choice import choose_engine
    from sandbox.engine.device import choose_device
    from sandbox.runner.control import RunControl
    from sandbox.runner.execution import Execution
    from sandbox.runner.names import new_run_id
    from sandbox.store import open_run, runs_root

    choose_device(arguments.device)  # a device that is not there must leave no folder behind
    for arm in experiment.arms:
        choose_engine(experiment.setting(arm.name), arguments.device, arguments.engine)
    folder = Path(arguments.out).absolute() if arguments.out else runs_root() / new_run_id()
    prepare(folder)
    progress = Progress(experiment.steps)
    execution = Execution(
        experiment, folder, arguments.device, engine=arguments.engine, on_beat=progress.beat
    )
    with RunControl(folder) as control:
        control.resume()  # a wish that an earlier run of this folder was left with is over
    stop.then(execution.interrupt)
    sys.stderr.write(f"training into {folder}\n")
    state, reason = execution.run()
    progress.end(f"{state}: {reason}")
    if state == "stopped":
        sys.stderr.write(f"resume with the same command and --out {folder}\n")
    if arguments.json:
        from sandbox.cli.results import results

        with open_run(folder) as finished:
            print_json(results(finished))
    else:
        from sandbox.cli.show_command import show

        with open_run(folder) as finished:
            show(finished)
    return 0


def plain_experiment(arguments: argparse.Namespace) -> dict[str, Any]:
    """The plain form that the options describe, before validation."""
    from sandbox.experiment.experiment import load
    from sandbox.experiment.override import override_text
    from sandbox.experiment.presets import preset

    if arguments.file is not None and arguments.preset is not None:
        raise InvalidPlain("Both a file and a preset were given; start from one of them.")
    if arguments.file is not None:
        plain = load(arguments.file).to_plain()
    else:
        plain = dict(preset(arguments.preset).experiment) if arguments.preset is not None else {}
    if arguments.task is not None:
        plain["task"] = {"kind": arguments.task}
    if arguments.arm:
        plain["arms"] = list(arguments.arm)
    if arguments.seeds is not None:
        plain["seeds"] = read_seed_list(arguments.seeds)
    changes = [f"steps={arguments.steps}"] if arguments.steps is not None else []
    changes += arguments.set or []
    if changes:
        plain = load(plain).to_plain()  # with its defaults written out, so that a dotted key finds its table
    for assignment in changes:
        plain = override_text(plain, assignment)
    return plain


def read_seed_list(text: str) -> list[int]:
    """The seeds that `--seeds` names: a count N means 0 to N-1; numbers with commas are the seeds."""
    try:
        numbers = [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        numbers = []
    if not numbers:
        raise InvalidKnob(f"--seeds is {text[:80]!r}; give a count such as 3, or a list such as 3,5,8.")
    if "," in text:
        return numbers
    if not 1 <= numbers[0] <= 128:
        raise InvalidKnob(
            f"--seeds is {text[:80]!r}; give a count from 1 to 128, or one seed and a comma, as in '7,'."
        )
    return list(range(numbers[0]))


class StopSignal:
    """Turns the first Ctrl-C (or SIGTERM) into a clean stop, also one that comes while torch loads."""

    def __init__(self) -> None:
        self._came = False
        self._action: Any = None
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._handle)

    def then(self, action: Any) -> None:
        """What to do when it comes, or at once if it has come."""
        self._action = action
        if self._came:
            action()

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if self._came and number == signal.SIGINT:
            raise KeyboardInterrupt  # the second time is meant
        self._came = True
        if self._action is not None:
            self._action()


class Progress:
    """Where the training is, with the time left, on standard error."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._terminal = sys.stderr.isatty()
        self._began: tuple[float, int] | None = None
        self._said = time.monotonic()

    def beat(self, state: str, step: int) -> None:
        """Take in the present step; say so if it is time."""
        now = time.monotonic()
        if self._began is None:
            self._began = now, step
        if now - self._said < SAY_EVERY[not self._terminal] or step == 0:
            return
        self._said = now
        seconds, done = now - self._began[0], step - self._began[1]
        rate = done / seconds if seconds > 0 else 0.0
        left = f", {duration((self._steps - step) / rate)} left" if rate else ""
        line = f"{state}: step {step} of {self._steps}, {rate:.3g} steps/s{left}"
        sys.stderr.write(f"\r{line:<78}" if self._terminal else f"{line}\n")
        sys.stderr.flush()

    def end(self, sentence: str) -> None:
        """The last line."""
        sys.stderr.write(f"\r{sentence:<78}\n" if self._terminal else f"{sentence}\n")


def duration(seconds: float) -> str:
    """Seconds as people read them: 45 s, 3:20 min, 2:05 h."""
    whole = int(seconds + 0.5)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d} min"
    return f"{whole // 3600}:{whole // 60 % 60:02d} h"


def own_process_group() -> None:
    """Lead a process group, so that the run and nothing else can be signalled; keep the terminal's Ctrl-C."""
    if os.getpgrp() == os.getpid():
        return
    before = os.getpgrp()
    try:
        foreground = os.tcgetpgrp(sys.stdin.fileno()) == before
    except (OSError, ValueError):
        foreground = False
    os.setpgid(0, 0)
    if foreground:
        import atexit

        # Moving the terminal's foreground from the background would stop this process with SIGTTOU.
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        os.tcsetpgrp(sys.stdin.fileno(), os.getpid())
        atexit.register(os.tcsetpgrp, sys.stdin.fileno(), before)
