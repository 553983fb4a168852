"""Memory of a worker: what it holds, and whether the system ended it for want of memory."""

import os
import signal
import time
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
NEAR = 0.85
"""Share of its limit at which a killed worker counts as one that ran out of memory."""

SCARCE = 0.03
"""Share of the machine's memory below which a kill counts as the system's."""

LOOK = 1.0
"""Seconds between two looks at a worker."""


class MemoryWatch:
    """Looks at one worker now and then, so that its death can be told apart from being killed by a person."""

    def __init__(self, pid: int, limit: int) -> None:
        self._pid, self._limit = pid, limit
        self._kills = oom_kills()
        self._looked = 0.0
        self.held = 0
        """Bytes that it held when last seen."""
        self._scarce = False

    def look(self) -> None:
        """Take in what it holds now, at most once a second."""
        now = time.monotonic()
        if now - self._looked < LOOK:
            return
        self._looked = now
        self.held = resident(self._pid) or self.held
        available, total = machine_memory()
        self._scarce = total > 0 and available < SCARCE * total

    def ran_out(self, exit_code: int) -> bool:
        """Whether SIGKILL came for want of memory: the kernel counted one, or there was hardly any left."""
        if exit_code != -signal.SIGKILL:
            return False
        return oom_kills() > self._kills or self._scarce or 0 < NEAR * self._limit < self.held


def oom_kills(cgroups: Path = CGROUPS) -> int:
    """Processes that the kernel has ended for want of memory, in this control group else on this machine."""
    for path in (_own_group(cgroups) / "memory.events", cgroups / "memory.events"):
        if (found := _counted(path, "oom_kill")) is not None:
            return found
    if (found := _counted(cgroups / "memory" / "memory.oom_control", "oom_kill")) is not None:
        return found
    return _counted(Path("/proc/vmstat"), "oom_kill") or 0


def resident(pid: int) -> int:
    """Bytes of memory that a process holds; 0 where it is gone or cannot be seen."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def machine_memory() -> tuple[int, int]:
    """(available, total) bytes of this machine, zeros where that is not said."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        said = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}
        return said["MemAvailable"], said["MemTotal"]
    except (OSError, ValueError, IndexError, KeyError):
        return 0, 0


def _own_group(cgroups: Path) -> Path:
    """The control group of this process, version 2."""
    try:
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            if line.startswith("0::"):
                return cgroups / line[3:].lstrip("/")
    except OSError:
        pass
    return cgroups


def _counted(path: Path, key: str) -> int | None:
    try:
        for line in path.read_text(encoding="ascii").splitlines():
            name, _, value = line.partition(" ")
            if name == key:
                return int(value)
    except (OSError, ValueError):
        pass
    return None
