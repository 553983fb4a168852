"""Steering a run from another process: sixteen bytes that its trainer reads before every step."""

import fcntl
import mmap
import os
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Literal

from sandbox.foundations.errors import RunUnavailable
from sandbox.store.folder import runs_root

Wish = Literal["run", "pause", "stop"]
WISHES: tuple[Wish, ...] = ("run", "pause", "stop")
SIZE = 16
GRANTED = struct.Struct("<I")
GRANTED_AT = 4
MAX_STEPS = 1_000_000


class RunControl:
    """The control file of one run: byte 0 is the wish, four bytes at 4 count the single steps granted.

    The count only grows and the trainer keeps how many it has used, so that no process ever
    writes what another one writes. Reading is one memory access; there is nothing to wait for.
    Only who makes a run creates the file; RunUnavailable where there is none, or a link in its place.
    """

    def __init__(self, folder: str | Path, *, create: bool = False) -> None:
        path = Path(folder) / "control"
        how = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | (os.O_CREAT if create else 0)
        try:
            self._descriptor = os.open(path, how, 0o644)
        except OSError as error:
            raise RunUnavailable(
                f"{path} cannot be opened ({error.strerror}); is the run's folder there?"
            ) from error
        try:
            if os.fstat(self._descriptor).st_size < SIZE:
                os.ftruncate(self._descriptor, SIZE)
            self._bytes = mmap.mmap(self._descriptor, SIZE)
        except OSError as error:
            os.close(self._descriptor)
            raise RunUnavailable(f"{path} cannot be mapped ({error.strerror}); is the disk full?") from error

    @property
    def wish(self) -> Wish:
        """What the run should do: run, pause or stop."""
        return WISHES[min(self._bytes[0], len(WISHES) - 1)]

    @property
    def granted(self) -> int:
        """How many single steps have been granted since the run began, modulo 2**32."""
        (count,) = GRANTED.unpack_from(self._bytes, GRANTED_AT)
        return int(count)

    def pause(self) -> None:
        """Hold after the current step, keeping everything in memory; a stop that was asked for stands."""
        self._write("pause")

    def resume(self) -> None:
        """Train on; also takes back a stop that nobody has acted on."""
        self._write("run")

    def stop(self) -> None:
        """Write a checkpoint and end; the run can be taken up again later."""
        self._write("stop")

    def step(self, n: int = 1) -> None:
        """Pause if running, then grant `n` more single steps."""
        if not 1 <= n <= MAX_STEPS:
            raise RunUnavailable(f"{repr(n)[:40]} single steps were asked for; ask for 1 to {MAX_STEPS}.")
        self._write("pause", n)

    def close(self) -> None:
        """Let go of the file; the wish stays."""
        self._bytes.close()
        os.close(self._descriptor)

    def __enter__(self) -> "RunControl":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, wish: Wish, steps: int = 0) -> None:
        # Two viewers may press at once: adding to the count needs the lock, reading does not.
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        try:
            GRANTED.pack_into(self._bytes, GRANTED_AT, (self.granted + steps) & 0xFFFFFFFF)
            if wish != "pause" or self.wish != "stop":  # another viewer's step must not undo a stop
                self._bytes[0] = WISHES.index(wish)
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)


def supervisor_runs(runs: Path | None = None) -> bool:
    """Whether a supervisor holds the lock of the runs folder."""
    lock = (runs or runs_root()) / "supervisor.lock"
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


_started: dict[Path, subprocess.Popen[bytes]] = {}


def ensure_supervisor(timeout: float = 10.0) -> bool:
    """Start a supervisor for the runs folder unless one runs; True once its lock is held.

    The child's standard input is a pipe from this process, so it ends with this process. Under
    `serve` the launcher has started one and restarts it; here nothing more is done than to wait.
    """
    runs = runs_root()
    if supervisor_runs(runs):
        return True
    earlier = _started.get(runs)
    if not os.environ.get("SANDBOX_SUPERVISED") and (earlier is None or earlier.poll() is not None):
        _started[runs] = start_supervisor(runs)
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if supervisor_runs(runs):
            return True
        time.sleep(0.02)
    return False


def start_supervisor(runs: Path) -> subprocess.Popen[bytes]:
    """Start `python -m sandbox.runner.supervisor` for `runs`; it ends when its standard input closes."""
    runs.mkdir(parents=True, exist_ok=True)
    environment = {
        **os.environ,
        "SANDBOX_RUNS": str(runs),
        # Trainers are the parallel part; a thread pool per trainer only makes them wait on each other.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(_source_root()), os.environ.get("PYTHONPATH", "")])),
    }
    return subprocess.Popen(
        [sys.executable, "-m", "sandbox.runner.supervisor"],
        stdin=subprocess.PIPE,
        env=environment,
        start_new_session=True,  # a Ctrl-C in the terminal reaches it only through the pipe, after the app
    )


def _source_root() -> Path:
    return Path(__file__).resolve().parents[2]
