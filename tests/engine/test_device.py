"""A device is there, or one sentence says why not."""

import ctypes
import resource

import pytest
import torch

from sandbox.engine.device import (
    available_devices,
    choose_device,
    full_precision,
    keep_freed_memory,
    one_thread,
)
from sandbox.foundations.errors import DeviceUnavailable


def test_the_cpu_is_always_there() -> None:
    assert choose_device("cpu") == torch.device("cpu")
    assert "cpu" in available_devices()


@pytest.mark.parametrize(("built_for", "reason"), [(None, "without CUDA"), ("12.6", "no usable GPU")])
def test_without_cuda_one_sentence_says_so(
    monkeypatch: pytest.MonkeyPatch, built_for: str | None, reason: str
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", built_for)
    with pytest.raises(DeviceUnavailable, match=f"'cuda'.*{reason}.*choose 'cpu'"):
        choose_device("cuda")


def test_with_cuda_it_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_device("cuda") == torch.device("cuda")


def test_another_device_is_refused_by_name() -> None:
    with pytest.raises(DeviceUnavailable, match="'tpu'; choose one of cpu, cuda"):
        choose_device("tpu")


def test_reading_is_in_full_float32_and_training_keeps_what_was_allowed() -> None:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        with full_precision():
            assert torch.get_float32_matmul_precision() == "highest"
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision(before)


def test_freed_memory_is_kept_for_the_next_step() -> None:
    keep_freed_memory()
    if getattr(ctypes.CDLL(None), "mallopt", None) is not None:
        torch.zeros(2**21)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(20):
            torch.zeros(2**21)  # 2048 pages of 4 kB
        assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 2 * 2048


def test_a_trainer_takes_one_thread() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        one_thread()
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
