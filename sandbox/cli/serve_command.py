"""`serve`: the app and its supervisor, as one process tree."""

import argparse

from sandbox.cli.numbers import whole

HELP = "serve the app, with the supervisor that trains for it"
FORM: dict[str, object] = {}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `serve`."""
    parser.add_argument(
        "--port", metavar="N", type=whole(), default=8501, help="port of the app (default 8501)"
    )
    parser.add_argument(
        "--host",
        metavar="H",
        default=None,
        help="address to listen on (default: this machine alone); with another, all who reach it use the app",
    )
    parser.add_argument(
        "--allow-host", metavar="NAME", action="append", default=[],
        help="a host name under which the app may be asked for, besides localhost; repeatable",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Serve until Ctrl-C or SIGTERM."""
    from sandbox.runner.server import serve

    return serve(arguments.port, arguments.host, arguments.allow_host)
