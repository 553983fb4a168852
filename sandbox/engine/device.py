"""Device: where a group trains, how many threads it takes, and full float32 where numbers are read."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from sandbox.foundations.errors import DeviceUnavailable

DEVICES = ("cpu", "cuda")


def available_devices() -> tuple[str, ...]:
    """The names that `choose_device` accepts on this machine."""
    return DEVICES if torch.cuda.is_available() else DEVICES[:1]


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


@contextmanager
def full_precision() -> Iterator[None]:
    """Keep TF32 out of the matrix products of the block; what was allowed before comes back after."""
    kept = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(kept)
