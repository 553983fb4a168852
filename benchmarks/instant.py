"""Instant mode: whole retrainings a second while a knob moves, seconds to 300 epochs, and a hundred seeds.

Drives one page's session as the instant worker does, with a new value every sixtieth of a second while the
knob moves. Wall time, evaluations, pictures and messages included; the network and the browser are not.
CPU time is that of one retraining by itself: on a busy machine trust it, and take the rest as bounds.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # read when torch loads its libraries

import argparse
import sys
import time
from itertools import count
from typing import Any

from sandbox.engine.device import one_thread
from sandbox.foundations.kernels import found_build
from sandbox.runner.instant.curves import Curves, Teams
from sandbox.runner.instant.histogram import Histogram
from sandbox.runner.instant.knobs import KNOBS, Knobs, check_knobs
from sandbox.runner.instant.session import Session
from sandbox.runner.instant.worker import cores

FRAME = 1 / 60
SHAPES: dict[str, Knobs] = {
    "as published (d 2, L 12, k 5, batch 32)": {"n_terms": 5},
    "width 8": {"d_model": 8},
    "8 seeds": {"n_seeds": 8},
    "the dearest (width 8, d_ff 64, p 8, L 24, b 16, 8 seeds)": {
        "d_model": 8, "d_ff": 64, "modulus": 8, "n_embeddings": 8, "length": 24,
        "batch_size": 16, "n_seeds": 8,
    },
}  # fmt: skip
TURNED = ("learning_rate", "d_ff")
"""A knob that keeps data and start, and one that needs new ones."""
OWED_RATE, OWED_REST, OWED_MANY = 2.0, 1.5, 90.0


class Page:
    """A page that takes every message and says so, as a browser does within a frame."""

    def __init__(self, threads: int) -> None:
        self.last: dict[str, Any] = {}
        self.session = Session(1, self.say, threads)

    def say(self, session: int, message: dict[str, Any], numbers: bytes | None = None) -> None:
        self.last = message
        self.session.hear({"do": "ack"})


def drag(threads: int, shape: Knobs, turned: str, seconds: float) -> tuple[float, float]:
    """First parts a second while `turned` moves without rest, then seconds until all epochs are done."""
    stops = next(knob.stops for knob in KNOBS if knob.name == turned)
    page, numbers, asked = Page(threads), count(1), 0.0

    def wish() -> None:
        nonlocal asked
        now = time.perf_counter()
        if now - asked < FRAME:
            return
        asked, number = now, next(numbers)
        middle = len(stops) // 2
        knobs = check_knobs(shape | {turned: stops[middle - 2 + number % 5]})
        page.session.hear({"do": "train", "id": number, "knobs": knobs})

    wish()
    while not page.session.computed:  # the first one also fetches everything
        page.session.turn(lambda: None)
    began, before = time.perf_counter(), page.session.computed
    while time.perf_counter() - began < seconds:
        page.session.turn(wish)
        wish()
    rate = (page.session.computed - before) / (time.perf_counter() - began)
    asked = 0.0
    wish()
    let_go, latest = time.perf_counter(), page.session.latest
    while not (page.last.get("done") and page.last["id"] == latest):
        page.session.turn(lambda: None)
    return rate, time.perf_counter() - let_go


def cpu(threads: int, shape: Knobs) -> float:
    """CPU seconds of 100 epochs, after one retraining that fetched everything."""
    teams, took = Teams(threads), 0.0
    for rate in (1e-3, 2e-3, 3e-3):
        began = time.process_time()
        job = Curves(1, check_knobs(shape | {"learning_rate": rate}), teams)
        while job.first_seconds is None:
            job.turn()
        took = time.process_time() - began
    return took


def many(threads: int) -> float:
    """Seconds of the histogram as published."""
    began = time.perf_counter()
    job = Histogram(1, check_knobs({"n_terms": 5}), threads)
    while not job.done:
        if job.turn():
            job.told()
    return time.perf_counter() - began


def main() -> int:
    """Print the tables; the exit code is 1 where a promise is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each movement")
    parser.add_argument("--quick", action="store_true", help="the published setting without the histogram")
    options = parser.parse_args()
    build, why = found_build()
    if not build:
        print(f"Nothing to measure: {why}.")
        return 0
    one_thread()
    threads, missed = cores(), False
    print("| knobs | turned | CPU s | 100 epochs, times a second | let go to 300 epochs, s |")
    print("|---|---|---|---|---|")
    for name, shape in list(SHAPES.items())[: 1 if options.quick else None]:
        took = cpu(threads, shape)
        for turned in TURNED:
            rate, rest = drag(threads, shape, turned, options.seconds)
            print(f"| {name} | {turned} | {took:.2f} | {rate:.1f} | {rest:.2f} |", flush=True)
            missed |= name.startswith("as published") and (rate < OWED_RATE or rest > OWED_REST)
    print(f"\nOwed as published: at least {OWED_RATE:g} a second, at most {OWED_REST:g} s.")
    if not options.quick:
        seconds = many(threads)
        print(f"100 seeds x 1000 epochs: {seconds:.1f} s (owed: at most {OWED_MANY:g}).")
        missed |= seconds > OWED_MANY
    print(f"{threads} threads, load {os.getloadavg()[0]:.1f}, build {build}.")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
