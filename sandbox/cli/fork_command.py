"""`fork`: a new run that goes on from a step of another, with changed knobs, more steps or new seeds."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandbox.cli.numbers import whole
from sandbox.cli.train_command import make_ready, read_seed_list, train
from sandbox.foundations.errors import InvalidPlain

if TYPE_CHECKING:
    from sandbox.store import Run

HELP = "go on from a step of a run with changed knobs, beyond its limit, or with new seeds, as a new run"
FORM: dict[str, object] = {"formatter_class": argparse.RawDescriptionHelpFormatter}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fork`."""
    parser.epilog = (
        "The new run begins with the weights, optimizer moments and batch order of that step; the parent\n"
        "stays as it is. Without a changed knob it goes the parent's way, bit for bit on one device.\n"
        "What may change: batch_size, evaluate_every, optimizer.* but its kind, and the live knobs of an\n"
        "arm, such as projection.shift. With --step 0 --seeds may name seeds that the parent has not."
    )
    parser.add_argument("run_id", metavar="RUN", help="an id that `list` prints, or a run's folder")
    parser.add_argument(
        "--step", type=whole(), metavar="N", help="the step to go on from (default: the last)"
    )
    parser.add_argument(
        "--set", metavar="KEY=VALUE", action="append", help="change one knob, such as projection.shift=2"
    )
    parser.add_argument("--steps", metavar="N|+N", help="the step limit, or how many steps beyond the fork")
    parser.add_argument("--seeds", metavar="a,b,c", help="some of the parent's seeds, as a list such as 0,2")
    parser.add_argument("--arm", metavar="NAME", action="append", help="one of the parent's arms; repeatable")
    parser.add_argument(
        "--out", metavar="DIR", help="the run's folder (default: a new one in the runs folder)"
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), help="default: the parent's")
    parser.add_argument("--engine", choices=("auto", "torch", "native"), default="auto")
    parser.add_argument("--json", action="store_true", help="print the results as one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Train the fork in the foreground; the same --out again resumes it."""
    stop = make_ready()
    from sandbox.runner.admission import admit
    from sandbox.runner.fork_plan import Plan, forked, read_steps
    from sandbox.runner.forking import make_folder
    from sandbox.runner.places import find_run
    from sandbox.store import open_run
    from sandbox.store.folder import EXPERIMENT

    with open_run(find_run(arguments.run_id)) as parent:
        step = int(parent.status["step"]) if arguments.step is None else arguments.step
        plan = Plan(
            step=step,
            arms=arguments.arm,
            seeds=None if arguments.seeds is None else _seeds(arguments.seeds),
            steps=None if arguments.steps is None else read_steps(arguments.steps, step),
            settings=[_setting(text) for text in arguments.set or []],
        )
        experiment = admit(forked(parent, plan))
        arguments.device = arguments.device or _device(parent)

        def prepare(folder: Path) -> None:
            if not (folder / EXPERIMENT).exists():  # else it is resumed, or refused as another experiment
                make_folder(folder, parent, experiment.to_plain())

        return train(experiment, arguments, stop, prepare)


def _setting(text: str) -> tuple[None, str, Any]:
    from sandbox.foundations.spec import read_value

    key, equals, value = (piece.strip() for piece in text.partition("="))
    if not (key and equals and value):
        raise InvalidPlain(f"The setting {text[:80]!r} cannot be read; write it as KEY=VALUE.")
    return None, key, read_value(value)


def _seeds(text: str) -> list[int]:
    """Seeds by name: one number alone is that seed here, since a fork chooses among what there is."""
    return read_seed_list(text if "," in text else f"{text},")


def _device(parent: "Run") -> str:
    return "cuda" if str(parent.meta("device")).startswith("cuda") else "cpu"
