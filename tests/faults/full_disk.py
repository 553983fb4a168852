"""A run on a file system of a few megabytes that fills up and is emptied; in namespaces of its own."""

import json
import os
import sys
import threading
import time
from pathlib import Path

from sandbox.runner.execution import Execution
from sandbox.runner.room import DISK_FULL
from sandbox.store import open_run
from tests.runner.small import tiny_experiment


def main() -> None:
    """Train in the folder named first beside a file that takes all room, then say what happened as JSON."""
    place, other = Path(sys.argv[1]), Path(sys.argv[2])
    told: list[tuple[float, str, int]] = []
    filled = threading.Event()

    def beat(state: str, step: int) -> None:
        told.append((time.monotonic(), state, step))
        if step > 10 and not filled.is_set():
            filled.set()
            with open(place / "filler", "wb") as file:
                try:
                    while True:
                        file.write(bytes(65536))
                        file.flush()
                except OSError:
                    pass  # full
        if sum(state == DISK_FULL for _, state, _ in told) == 4:
            (place / "filler").unlink(missing_ok=True)

    experiment = tiny_experiment(steps=200)
    state, _ = Execution(experiment, place / "run", on_beat=beat).run()
    waited = [at for at, state, _ in told if state == DISK_FULL]
    Execution(experiment, other / "alone").run()
    with open_run(place / "run") as run, open_run(other / "alone") as alone:
        from tests.runner.small import assert_same_numbers

        assert_same_numbers(alone, run)
    free = os.statvfs(place)
    sys.stdout.write(
        json.dumps({
            "state": state, "times_told": len(waited), "waited_seconds": round(waited[-1] - waited[0], 2),
            "disk_bytes": free.f_blocks * free.f_frsize, "same_bits": True,
        })
    )  # fmt: skip


if __name__ == "__main__":
    main()
