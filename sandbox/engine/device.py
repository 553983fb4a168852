"""Device: where a group trains, how many threads it takes, and full float32 where numbers are read."""

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from sandbox.foundations.errors import DeviceUnavailable

DEVICES = ("cpu", "cuda")

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # malloc.h of the GNU C library
MMAP_THRESHOLD_BYTES = 2**25  # the largest it accepts; greater blocks go back to the system
TRIM_THRESHOLD_BYTES = 2**29  # of free memory at the heap's end that a trainer may keep


def available_devices() -> tuple[str, ...]:
    """The names that `choose_device` accepts on this machine."""
    return DEVICES if torch.cuda.is_available() else DEVICES[:1]


def device_sentences() -> dict[str, str]:
    """What there is to say of each device, by name: what was found, or why it cannot be used."""
    if torch.cuda.is_available():
        cuda = torch.cuda.get_device_name(0)
    elif torch.version.cuda:
        cuda = "none: this torch could use one, but the machine shows no usable GPU"
    else:
        cuda = "none: this torch is built without CUDA; README says how to install one with it"
    return {"cpu": f"torch {torch.__version__}, one thread per run", "cuda": cuda}


def choose_device(name: str) -> torch.device:
    """Return the torch device of that name, or raise DeviceUnavailable in one sentence."""
    if name not in DEVICES:
        raise DeviceUnavailable(f"The device is {name[:80]!r}; choose one of {', '.join(DEVICES)}.")
    if name not in available_devices():
        why = "finds no usable GPU" if torch.version.cuda else "is built without CUDA"
        raise DeviceUnavailable(
            f"The device is 'cuda', but torch {torch.__version__} {why} on this machine; choose 'cpu'."
        )
    return torch.device(name)


def one_thread() -> None:
    """Give torch one thread, once a trainer starts: two collapse when the other core is busy.

    MKL reads OMP_NUM_THREADS when it loads, so the process that trains also needs it set to 1 before.
    """
    torch.set_num_threads(1)


def keep_freed_memory() -> None:
    """Let the C library keep what is freed for the next step, as far as it can be told to.

    Without it every step returns its activations to the system and takes fresh pages again, a tenth of
    the time of a small encoder's step (measured).
    Where there is no mallopt, nothing changes.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES)
        mallopt(M_TRIM_THRESHOLD, TRIM_THRESHOLD_BYTES)


@contextmanager
def full_precision() -> Iterator[None]:
    """Keep TF32 out of the matrix products of the block; what was allowed before comes back after."""
    kept = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(kept)
