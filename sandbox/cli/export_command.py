"""`export`: a run as tables, settings, weights, an archive, a page that replays it, or a film."""

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from sandbox.cli.numbers import real, whole

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.store import Run

HELP = "export a run: tables, settings, weights, an archive, a page that replays it, a film"
FORM: dict[str, object] = {}
FORMATS = ("csv", "parquet", "zip", "html", "gif", "toml", "python", "safetensors", "tensorboard")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `export`."""
    parser.add_argument(
        "run_id", metavar="RUN", help="an id that `list` prints, or the path of a run's folder"
    )
    parser.add_argument("--to", choices=FORMATS, required=True)
    parser.add_argument(
        "-o", "--output", metavar="PATH", help="where to write (default: named after the run, here)"
    )
    parser.add_argument(
        "--step",
        type=whole(),
        metavar="N",
        help="safetensors: the step whose weights (default: the last stored)",
    )
    parser.add_argument(
        "--megabytes",
        type=real(0, 100_000),
        default=5.0,
        metavar="N",
        help="html: the file's size at most (default: 5)",
    )
    parser.add_argument(
        "--seconds", type=real(1, 60), default=12.0, metavar="N", help="gif: how long it plays (default: 12)"
    )
    parser.add_argument(
        "--seed", type=whole(), metavar="N", help="gif: whose pictures (default: the first seed)"
    )
    for part in ("layer", "head"):
        parser.add_argument(
            f"--{part}",
            type=whole(1),
            default=1,
            metavar="N",
            help=f"gif: which {part}'s attention (default: 1)",
        )
    parser.add_argument("--dark", action="store_true", help="gif: on a dark ground")
    parser.add_argument(
        "--progress", action="store_true", help="html, gif: a line of percent on stderr at each advance"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the export and print its path."""
    from sandbox.runner.places import find_run
    from sandbox.store import open_run

    with open_run(find_run(arguments.run_id)) as found:
        sys.stdout.write(f"{_written(found, arguments)}\n")
    return 0


def _written(found: "Run", arguments: argparse.Namespace) -> "Path":
    out, tell = arguments.output, _teller(arguments.progress)
    if arguments.to == "html":
        from sandbox.live.replay.page import write_replay

        return write_replay(found, out, arguments.megabytes, tell)
    if arguments.to == "gif":
        from sandbox.figures.animation import Chosen, write_film

        seed = found.seeds[0] if arguments.seed is None else arguments.seed
        chosen = Chosen(seed, arguments.layer - 1, arguments.head - 1)
        return write_film(found, out, arguments.seconds, arguments.dark, tell, chosen)
    from sandbox.store.export import export

    return export(found, arguments.to, out, arguments.step)


def _teller(asked: bool) -> Callable[[float], None] | None:
    """Writes the percent done on standard error: over itself on a terminal, as lines where asked for."""
    if not asked and not sys.stderr.isatty():
        return None
    said = -1

    def tell(share: float) -> None:
        nonlocal said
        if int(100 * share) > said:
            said = int(100 * share)
            sys.stderr.write(f"{said}\n" if asked else f"\r{said} %\r")
            sys.stderr.flush()

    return tell
