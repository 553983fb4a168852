"""The command line, `python -m sandbox`: one file per command, importing nothing heavy before it must."""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from sandbox.foundations.errors import SandboxError

COMMANDS = (
    "serve", "train", "fork", "sweep", "show", "export", "import", "check", "list", "theta", "condition",
    "listops", "doctor",
)  # fmt: skip
DONE, FAILURE, BAD_INPUT = 0, 1, 2


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, without the usage text that buries it."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message}; see `{self.prog} --help`.\n")


def build_parser() -> Parser:
    """The parser of every command."""
    parser = Parser(
        prog="python -m sandbox",
        description="Train small transformers live and see what conditioning does to attention.",
        epilog="Exit codes: 0 done, 2 bad input, 1 failure. SANDBOX_RUNS: the runs folder (else ./runs).",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True, dest="command", parser_class=Parser)
    for name in COMMANDS:
        module = import_module(f"sandbox.cli.{name}_command")
        command = commands.add_parser(name, help=module.HELP, description=module.HELP, **module.FORM)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code: 0 done, 2 bad input, 1 failure."""
    try:
        arguments = build_parser().parse_args(argv)
    except SystemExit as ended:  # --help, or bad input that was explained
        return int(ended.code or 0)
    try:
        return int(arguments.run(arguments))
    except SandboxError as error:
        sys.stderr.write(f"{error}\n")
        return FAILURE if type(error).__name__ == "StorageFull" else BAD_INPUT
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        return FAILURE
    except BrokenPipeError:
        # Whoever read the output has gone; the interpreter must not complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except MemoryError:
        sys.stderr.write("There is not enough memory for this; make it smaller.\n")
        return FAILURE
    except Exception as error:
        logging.getLogger(__name__).debug("unexpected", exc_info=True)
        sys.stderr.write(f"An error of the program itself: {type(error).__name__}: {str(error)[:500]}\n")
        if os.environ.get("SANDBOX_DEBUG"):
            raise
        return FAILURE
